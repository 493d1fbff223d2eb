{{/* A file of alerts, leading to this site's Grafana and runbooks: (dict "root" $ "file" "files/rules.yml"). */}}
{{- define "counterflow.linked" -}}
{{- $monitoring := .root.Values.monitoring -}}
{{- $runbooks := splitList "{alert}" $monitoring.runbooks -}}
{{- $text := include "counterflow.file" . | replace "http://127.0.0.1:13000/" (printf "%s/" (trimSuffix "/" $monitoring.grafanaUrl)) -}}
{{- regexReplaceAll "docs/runbooks/([a-z0-9-]+)\\.md" $text (printf "%s${1}%s" (first $runbooks) (ternary (last $runbooks) "" (gt (len $runbooks) 1))) -}}
{{- end -}}
