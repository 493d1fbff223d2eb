{{/* A file of alerts with links to this site's Grafana and runbooks: (dict "root" $ "file" "files/rules.yml"). */}}
{{- define "counterflow.linked" -}}
{{- $monitoring := .root.Values.monitoring -}}
{{- $runbooks := splitList "{alert}" $monitoring.runbooks -}}
{{- $text := include "counterflow.file" . | replace "https://grafana.invalid/" (printf "%s/" (trimSuffix "/" $monitoring.grafanaUrl)) -}}
{{- regexReplaceAll "https://runbooks\\.invalid/([a-z0-9-]+)" $text (printf "%s${1}%s" (first $runbooks) (ternary (last $runbooks) "" (gt (len $runbooks) 1))) -}}
{{- end -}}
