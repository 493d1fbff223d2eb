{{/* Route and inhibitions of the example, in the notation of an AlertmanagerConfig. */}}
{{- define "counterflow.alertmanager" -}}
{{- $example := include "counterflow.file" (dict "root" . "file" "files/alertmanager.example.yml") | fromYaml -}}
route: {{- include "counterflow.route" $example.route | nindent 2 }}
inhibitRules:
  {{- range $example.inhibit_rules }}
  - sourceMatch: {{- include "counterflow.matchers" .source_matchers | nindent 6 }}
    targetMatch: {{- include "counterflow.matchers" .target_matchers | nindent 6 }}
    {{- with .equal }}
    equal: {{ toJson . }}
    {{- end }}
  {{- end }}
{{- end -}}

{{- define "counterflow.route" -}}
receiver: {{ .receiver }}
{{- with .matchers }}
matchers: {{- include "counterflow.matchers" . | nindent 2 }}
{{- end }}
{{- with .group_by }}
groupBy: {{ toJson . }}
{{- end }}
{{- range $key, $name := dict "group_wait" "groupWait" "group_interval" "groupInterval" "repeat_interval" "repeatInterval" }}
{{- with index $ $key }}
{{ $name }}: {{ . }}
{{- end }}
{{- end }}
{{- with .routes }}
routes:
  {{- range . }}
  - {{ include "counterflow.route" . | indent 4 | trim }}
  {{- end }}
{{- end }}
{{- end -}}

{{- define "counterflow.matchers" -}}
{{- range $n, $matcher := . }}
{{- $parts := regexSplit " *(=~|=) *" . 2 }}
{{- if $n }}
{{ end -}}
- {name: {{ first $parts }}, matchType: {{ ternary "=~" "=" (contains "=~" .) | quote }}, value: {{ last $parts | trimAll "\"" | quote }}}
{{- end }}
{{- end -}}
