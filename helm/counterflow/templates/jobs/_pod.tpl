{{/* Pod of a JobManager, which renders the job, or of a TaskManager: (dict "root" $ "job" . "render" true). */}}
{{- define "counterflow.flinkPod" -}}
{{- $values := .root.Values.flink -}}
{{- $part := dict "root" .root "own" $values "component" "job" -}}
metadata: {{- include "counterflow.podMetadata" (merge (dict "labels" (dict "counterflow/job" .job.name)) $part) | nindent 2 }}
spec:
  {{- $common := include "counterflow.podSpec" $part | fromYaml }}
  {{- /* Flink's own user; a JobManager requests TaskManagers and its leadership from Kubernetes. */}}
  {{- $_ := set $common "automountServiceAccountToken" true }}
  {{- $_ := set $common "securityContext" (merge (dict "runAsUser" 9999 "runAsGroup" 9999 "fsGroup" 9999) $common.securityContext) }}
  {{- toYaml $common | nindent 2 }}
  initContainers:
    {{- include "counterflow.trustContainer" (dict "root" .root "role" "flink") | nindent 4 }}
    {{- if .render }}
    - name: render
      {{- include "counterflow.runs" (dict "root" .root "role" "tools") | nindent 6 }}
      args: [jobs, render, {{ .job.name }}, --to, /run/counterflow/job]
      env: {{- include "counterflow.env" $part | nindent 8 }}
      resources:
        requests: {cpu: 50m, memory: 128Mi}
        limits: {memory: 256Mi}
      volumeMounts:
        {{- include "counterflow.volumeMounts" $part | nindent 8 }}
        - {name: job, mountPath: /run/counterflow/job}
    {{- end }}
  containers:
    - name: flink-main-container
      {{- $env := (include "counterflow.own" $part | fromYaml).extraEnv | default list }}
      {{- with $values.storageSecret }}
      {{- range $name := list "AWS_ACCESS_KEY_ID" "AWS_SECRET_ACCESS_KEY" }}
      {{- $env = append $env (dict "name" $name "valueFrom" (dict "secretKeyRef" (dict "name" $values.storageSecret "key" $name))) }}
      {{- end }}
      {{- end }}
      {{- with $env }}
      env: {{- toYaml . | nindent 8 }}
      {{- end }}
      securityContext: {{- toYaml .root.Values.securityContext | nindent 8 }}
      volumeMounts:
        {{- include "counterflow.volumeMounts" $part | nindent 8 }}
        - {name: log, mountPath: /opt/flink/log}
        {{- if .render }}
        - {name: job, mountPath: /run/counterflow/job, readOnly: true}
        {{- end }}
      {{- if .render }}
      readinessProbe:
        httpGet: {path: /overview, port: 8081}
        periodSeconds: 10
        timeoutSeconds: 5
      livenessProbe:
        httpGet: {path: /config, port: 8081}
        initialDelaySeconds: 60
        periodSeconds: 20
        timeoutSeconds: 10
        failureThreshold: 6
      {{- end }}
  volumes:
    {{- include "counterflow.volumes" (dict "root" .root "own" $values "kafka" (list "flink") "scratch" (ternary "" $values.scratch .render)) | nindent 4 }}
    - {name: log, emptyDir: {sizeLimit: 128Mi}}
    {{- if .render }}
    - {name: job, emptyDir: {sizeLimit: 16Mi}}
    {{- end }}
{{- end -}}
