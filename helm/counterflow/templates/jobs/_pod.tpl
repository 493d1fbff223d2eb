{{/* Pod of a JobManager, which renders what the job is to do, or of a TaskManager: (dict "root" $ "job" . "render" true). */}}
{{- define "counterflow.flinkPod" -}}
{{- $values := .root.Values.flink -}}
metadata:
  labels:
    {{- include "counterflow.labels" (dict "root" .root "component" "job") | nindent 4 }}
    counterflow/job: {{ .job.name }}
spec:
  {{- $common := include "counterflow.podSpec" (dict "root" .root "own" $values) | fromYaml }}
  {{- /* Flink's own user; a JobManager asks Kubernetes for its TaskManagers and its leader. */}}
  {{- $_ := set $common "automountServiceAccountToken" true }}
  {{- $_ := set $common "securityContext" (merge (dict "runAsUser" 9999 "runAsGroup" 9999 "fsGroup" 9999) $common.securityContext) }}
  {{- toYaml $common | nindent 2 }}
  initContainers:
    {{- include "counterflow.trustContainer" (dict "root" .root "role" "flink") | nindent 4 }}
    {{- if .render }}
    - name: render
      image: {{ include "counterflow.image" (dict "root" .root "role" "tools") }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args: [jobs, render, {{ .job.name }}, --to, /run/counterflow/job]
      env: {{- include "counterflow.env" .root | nindent 8 }}
      securityContext: {{- toYaml .root.Values.securityContext | nindent 8 }}
      resources:
        requests: {cpu: 50m, memory: 128Mi}
        limits: {memory: 256Mi}
      volumeMounts:
        {{- include "counterflow.volumeMounts" .root | nindent 8 }}
        - {name: job, mountPath: /run/counterflow/job}
    {{- end }}
  containers:
    - name: flink-main-container
      {{- if $values.storageSecret }}
      env:
        {{- range list "AWS_ACCESS_KEY_ID" "AWS_SECRET_ACCESS_KEY" }}
        - name: {{ . }}
          valueFrom: {secretKeyRef: {name: {{ $values.storageSecret }}, key: {{ . }}}}
        {{- end }}
      {{- end }}
      securityContext: {{- toYaml .root.Values.securityContext | nindent 8 }}
      volumeMounts:
        {{- include "counterflow.volumeMounts" .root | nindent 8 }}
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
    {{- include "counterflow.volumes" (dict "root" .root "kafka" (list "flink")) | nindent 4 }}
    - {name: log, emptyDir: {sizeLimit: 128Mi}}
    {{- if .render }}
    - {name: job, emptyDir: {sizeLimit: 16Mi}}
    {{- end }}
{{- end -}}
