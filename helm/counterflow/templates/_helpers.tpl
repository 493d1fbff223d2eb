{{- define "counterflow.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 20 | trimSuffix "-" -}}
{{- else -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) (contains .Chart.Name .Release.Name) | trunc 20 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels of an object: (dict "root" $ "component" "lander" "more" …), `more` those of a value. */}}
{{- define "counterflow.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
app.kubernetes.io/part-of: counterflow
{{ include "counterflow.selectorLabels" . }}
{{- with .more }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "counterflow.selectorLabels" -}}
app.kubernetes.io/name: {{ .root.Chart.Name | quote }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* Text of a file that the repository makes: (dict "root" $ "file" "files/jobs.yaml"). */}}
{{- define "counterflow.file" -}}
{{- .root.Files.Get .file | required (printf "the chart has no %s: run `make chart` in the repository, which writes it" .file) -}}
{{- end -}}

{{/* Image of a role: (dict "root" $ "role" "lander"). */}}
{{- define "counterflow.image" -}}
{{- $image := .root.Values.image -}}
{{- with $image.registry }}{{ trimSuffix "/" . }}/{{ end }}{{ $image.repository }}-{{ .role }}:{{ $image.tag | default .root.Chart.AppVersion }}
{{- with index $image.digests .role }}@{{ . }}{{ end -}}
{{- end -}}

{{/* What the containers of a role run, and their rights: (dict "root" $ "role" "lander"). */}}
{{- define "counterflow.runs" -}}
image: {{ include "counterflow.image" . }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext: {{- toYaml .root.Values.securityContext | nindent 2 }}
{{- end -}}

{{- define "counterflow.clickhouseUrl" -}}
{{- .Values.clickhouse.url | default (printf "https://%s-clickhouse:8443" (include "counterflow.fullname" .)) -}}
{{- end -}}

{{/* Name for ON CLUSTER; empty on one server. */}}
{{- define "counterflow.clickhouseCluster" -}}
{{- $installation := .Values.clickhouse.installation -}}
{{- if and $installation.enabled (gt (int $installation.replicas) 1) -}}counterflow{{- else -}}{{ .Values.clickhouse.cluster }}{{- end -}}
{{- end -}}

{{- define "counterflow.flinkServiceAccount" -}}
{{- printf "%s-flink" (include "counterflow.fullname" .) -}}
{{- end -}}

{{/* Name of a job's FlinkDeployment: (dict "root" $ "job" .). It includes the fingerprint of the job's state, so that a job
whose query has changed is another one, which begins anew, and only the query that made a state ever restores it. */}}
{{- define "counterflow.flinkName" -}}
{{- printf "%s-%s-%s" (include "counterflow.fullname" .root) (.job.name | replace "_" "-") (.job.fingerprint | trunc 8) -}}
{{- end -}}

{{/* The jobs that run, as a list in JSON under the key `jobs`. */}}
{{- define "counterflow.jobs" -}}
{{- $chosen := list -}}
{{- if .Values.flink.enabled -}}
{{- $all := (include "counterflow.file" (dict "root" . "file" "files/jobs.yaml") | fromYaml).jobs -}}
{{- range $all -}}
{{- $own := index $.Values.flink.jobs .name | default dict -}}
{{- if ne (toString $own.enabled) "false" -}}{{- $chosen = append $chosen (merge (dict "own" $own) .) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- dict "jobs" $chosen | toJson -}}
{{- end -}}

{{/* Values of a part's pods, its own before those of every pod: (dict "root" $ "own" .Values.lander). */}}
{{- define "counterflow.own" -}}
{{- $every := pick .root.Values "podAnnotations" "podLabels" "podSecurityContext" "priorityClassName" "nodeSelector" "tolerations" "affinity" "topologySpreadConstraints" "extraEnv" "extraVolumes" "extraVolumeMounts" -}}
{{- mergeOverwrite (deepCopy $every) (deepCopy (.own | default dict)) | toYaml -}}
{{- end -}}

{{/* Metadata of a part's pods: (dict "root" $ "own" … "component" "lander" "labels" dict "annotations" dict). */}}
{{- define "counterflow.podMetadata" -}}
{{- $own := include "counterflow.own" . | fromYaml -}}
{{- $labels := merge (dict) (include "counterflow.labels" . | fromYaml) (.labels | default dict) -}}
{{- range $label, $_ := $own.podLabels | default dict -}}
{{- if hasKey $labels $label -}}
{{- fail (printf "podLabels.%s: the chart sets this label, by which policies and selectors find its pods" $label) -}}
{{- end -}}
{{- end -}}
labels: {{- toYaml (merge $labels ($own.podLabels | default dict)) | nindent 2 }}
{{- with merge (dict) (.annotations | default dict) ($own.podAnnotations | default dict) }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* How a part finds Kafka and ClickHouse, and what a site adds: (dict "root" $ "own" …). */}}
{{- define "counterflow.env" -}}
- {name: COUNTERFLOW_HOME, value: /run/counterflow/home}
- {name: COUNTERFLOW_SECRETS, value: /run/counterflow/secrets}
- {name: COUNTERFLOW_TLS_CA, value: /run/counterflow/trust/ca.pem}
- {name: COUNTERFLOW_KAFKA_BOOTSTRAP, value: {{ .root.Values.kafka.bootstrap | quote }}}
- {name: COUNTERFLOW_CLICKHOUSE_URL, value: {{ include "counterflow.clickhouseUrl" .root | quote }}}
{{- with (include "counterflow.own" . | fromYaml).extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Clients of the metrics are outside the pod; the NetworkPolicy admits only probes and Prometheus. */}}
{{- define "counterflow.metricsEnv" -}}
- {name: COUNTERFLOW_METRICS_ADDRESS, value: 0.0.0.0}
- {name: COUNTERFLOW_METRICS_PLAIN, value: "1"}
{{- end -}}

{{/* Volumes that a part writes and reads: (dict "root" $ "own" … "kafka" (list "lander") "clickhouse" (list …));
"claim" where its home is a claim of a StatefulSet; "scratch" where /tmp needs more. */}}
{{- define "counterflow.volumes" -}}
{{- if not .claim }}
- name: home
  emptyDir: {sizeLimit: 64Mi}
{{- end }}
- name: tmp
  emptyDir: {sizeLimit: {{ .scratch | default "256Mi" }}}
- name: trust
  emptyDir: {sizeLimit: 4Mi}
- name: certificates
  projected:
    defaultMode: 0440
    sources:
      {{- range $n, $one := .root.Values.trust }}
      - secret:
          name: {{ $one.secret }}
          items: [{key: {{ $one.key | quote }}, path: {{ printf "%02d.pem" $n }}}]
      {{- end }}
- name: secrets
  projected:
    defaultMode: 0440
    sources:
      {{- range $server := list "kafka" "clickhouse" }}
      {{- range index $ $server }}
      {{- $one := index $.root.Values $server "users" . }}
      - secret:
          name: {{ $one.secret }}
          items: [{key: {{ $one.key | quote }}, path: {{ $server }}-{{ . }}}]
      {{- end }}
      {{- end }}
      {{- if not (or .kafka .clickhouse) }}
      []
      {{- end }}
{{- with (include "counterflow.own" . | fromYaml).extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Mounts of these volumes: (dict "root" $ "own" …). */}}
{{- define "counterflow.volumeMounts" -}}
- {name: home, mountPath: /run/counterflow/home}
- {name: tmp, mountPath: /tmp}
- {name: trust, mountPath: /run/counterflow/trust, readOnly: true}
- {name: secrets, mountPath: /run/counterflow/secrets, readOnly: true}
{{- with (include "counterflow.own" . | fromYaml).extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Puts the certificates together: (dict "root" $ "role" "lander"). */}}
{{- define "counterflow.trustContainer" -}}
- name: trust
  {{- include "counterflow.runs" . | nindent 2 }}
  command: [sh, -c, cat /run/counterflow/certificates/*.pem > /run/counterflow/trust/ca.pem]
  resources:
    requests: {cpu: 10m, memory: 16Mi}
    limits: {memory: 64Mi}
  volumeMounts:
    - {name: certificates, mountPath: /run/counterflow/certificates, readOnly: true}
    - {name: trust, mountPath: /run/counterflow/trust}
{{- end -}}

{{/* What every pod has in common: (dict "root" $ "own" …). */}}
{{- define "counterflow.podSpec" -}}
{{- $own := include "counterflow.own" . | fromYaml -}}
{{- include "counterflow.placement" . }}
enableServiceLinks: false
securityContext: {{- toYaml $own.podSecurityContext | nindent 2 }}
{{- end -}}

{{/* A pod of one command of `counterflow`: (dict "root" $ "own" … "component" "audit" "run" (dict "args" (list …)) "kafka" (list …)
"clickhouse" (list …)). */}}
{{- define "counterflow.commandPod" -}}
{{- include "counterflow.podSpec" . }}
initContainers:
  {{- include "counterflow.trustContainer" (dict "root" .root "role" "tools") | nindent 2 }}
containers:
  - name: {{ .component }}
    {{- include "counterflow.runs" (dict "root" .root "role" "tools") | nindent 4 }}
    {{- toYaml .run | nindent 4 }}
    env: {{- include "counterflow.env" . | nindent 6 }}
    resources: {{- toYaml .own.resources | nindent 6 }}
    volumeMounts: {{- include "counterflow.volumeMounts" . | nindent 6 }}
volumes:
  {{- include "counterflow.volumes" . | nindent 2 }}
{{- end -}}

{{/* Affinity of pods that must not share a node: (dict "root" $ "component" "keeper"). */}}
{{- define "counterflow.apart" -}}
podAntiAffinity:
  requiredDuringSchedulingIgnoredDuringExecution:
    - topologyKey: kubernetes.io/hostname
      labelSelector:
        matchLabels: {{- include "counterflow.selectorLabels" . | nindent 10 }}
{{- end -}}

{{/* Pull secrets, placement and priority of a pod: (dict "root" $ "own" …). */}}
{{- define "counterflow.placement" -}}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
automountServiceAccountToken: false
{{- $own := include "counterflow.own" . | fromYaml -}}
{{- range $name := list "priorityClassName" "nodeSelector" "tolerations" "affinity" "topologySpreadConstraints" }}
{{- with index $own $name }}
{{ dict $name . | toYaml }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Probes of a part, by default one that answers /metrics and /healthz: (dict "live" httpGet "ready" httpGet). A part that
waits for Kafka is alive, and a restart would gain nothing: liveness only checks that it answers. */}}
{{- define "counterflow.probes" -}}
startupProbe:
  httpGet: {{ .live | default (dict "path" "/metrics" "port" "metrics") | toJson }}
  periodSeconds: 5
  failureThreshold: 60
livenessProbe:
  httpGet: {{ .live | default (dict "path" "/metrics" "port" "metrics") | toJson }}
  periodSeconds: 20
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {{ .ready | default (dict "path" "/healthz" "port" "metrics") | toJson }}
  periodSeconds: 10
  timeoutSeconds: 5
{{- end -}}

{{/* `true` where all jobs run in one Flink of the chart's own. */}}
{{- define "counterflow.session" -}}
{{- and .Values.flink.enabled (eq .Values.flink.mode "session") -}}
{{- end -}}

{{/* The exporter of verdicts, which queries Flink, if there is one, for the state of the jobs that run:
(dict "root" $ "own" .Values.verdicts "flink" (list URL…)). */}}
{{- define "counterflow.verdictsContainer" -}}
- name: verdicts
  {{- include "counterflow.runs" (dict "root" .root "role" "verdicts") | nindent 2 }}
  args:
    - dev
    - verdicts
    - --metrics-port=9466
    {{- range .flink }}
    - --flink-url={{ . }}
    {{- end }}
    {{- range (include "counterflow.jobs" .root | fromJson).jobs }}
    - --job={{ .name }}
    {{- end }}
    {{- if not .root.Values.flink.enabled }}
    - --no-flink
    {{- end }}
  env:
    {{- include "counterflow.env" . | nindent 4 }}
    {{- include "counterflow.metricsEnv" . | nindent 4 }}
  ports:
    - {name: metrics, containerPort: 9466}
  {{- include "counterflow.probes" dict | nindent 2 }}
  resources: {{- toYaml .own.resources | nindent 4 }}
  volumeMounts: {{- include "counterflow.volumeMounts" . | nindent 4 }}
{{- end -}}

{{/* A volume's claim, for one pod at a time: a value `storage` with `size` and `className`. */}}
{{- define "counterflow.claim" -}}
accessModes: [ReadWriteOnce]
{{- with .className }}
storageClassName: {{ . }}
{{- end }}
resources: {requests: {storage: {{ .size }}}}
{{- end -}}
