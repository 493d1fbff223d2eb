{{/* Checks that no schema can express: combinations that cannot work. Each message names the value to set. */}}
{{- define "counterflow.validate" -}}
{{- $clickhouse := .Values.clickhouse -}}
{{- if and $clickhouse.url $clickhouse.installation.enabled -}}
{{- fail "clickhouse.url names a server, and clickhouse.installation.enabled makes another: set one of them" -}}
{{- end -}}
{{- if not (or $clickhouse.url $clickhouse.installation.enabled) -}}
{{- fail "there is no ClickHouse: set clickhouse.url, or clickhouse.installation.enabled=true" -}}
{{- end -}}
{{- if and $clickhouse.cluster $clickhouse.installation.enabled -}}
{{- fail "clickhouse.cluster names a cluster of yours: that of the installation is `counterflow`" -}}
{{- end -}}
{{- /* Helm fails where the kind that is looked up is not installed. */ -}}
{{- if .Capabilities.APIVersions.Has "clickhouse.altinity.com/v1/ClickHouseInstallation" -}}
{{- with lookup "clickhouse.altinity.com/v1" "ClickHouseInstallation" .Release.Namespace (include "counterflow.fullname" .) -}}
{{- $layout := (first .spec.configuration.clusters).layout -}}
{{- if and (eq (int $layout.replicasCount) 1) (include "counterflow.clickhouseCluster" $) -}}
{{- fail "clickhouse.installation: one server does not become a cluster, whose tables would replace its own: install a cluster in another namespace (docs/cluster.md)" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if not (regexMatch "^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$" (include "counterflow.fullname" .)) -}}
{{- fail (printf "%s cannot begin names of services: set fullnameOverride, letters, digits and hyphens after a letter" (include "counterflow.fullname" .)) -}}
{{- end -}}
{{- if eq (include "counterflow.session" .) "true" -}}
{{- $count := len (include "counterflow.jobs" . | fromJson).jobs -}}
{{- if lt (int .Values.flink.session.slots) $count -}}
{{- fail (printf "flink.session.slots is %d, and %d jobs need a slot each" (int .Values.flink.session.slots) $count) -}}
{{- end -}}
{{- range $key, $_ := omit .Values.verdicts "enabled" "resources" -}}
{{- fail (printf "verdicts.%s: in a session the exporter runs in Flink's pod: set flink.%s" $key $key) -}}
{{- end -}}
{{- if .Values.flink.storage -}}
{{- fail "flink.storage is for flink.mode=application: a session keeps its checkpoints on its volume, flink.session.storage" -}}
{{- end -}}
{{- range $name, $job := .Values.flink.jobs -}}
{{- if omit $job "enabled" -}}
{{- fail (printf "flink.jobs.%s: a session runs every job with the settings of the release: set flink.mode=application, or enabled alone" $name) -}}
{{- end -}}
{{- end -}}
{{- else if and .Values.flink.enabled (not .Values.flink.storage) -}}
{{- fail "flink.storage is empty: name where checkpoints are kept, for example s3://bucket/counterflow" -}}
{{- end -}}
{{- if and (gt (int .Values.lander.replicas) 1) .Values.lander.autoscaling.enabled -}}
{{- fail "lander.replicas is set beside lander.autoscaling.enabled: set minReplicas" -}}
{{- end -}}
{{- with .Values.lander.autoscaling -}}
{{- if and .enabled (gt (int .minReplicas) (int .maxReplicas)) -}}
{{- fail "lander.autoscaling.minReplicas is above maxReplicas" -}}
{{- end -}}
{{- end -}}
{{- $jobs := list -}}
{{- range (include "counterflow.file" (dict "root" . "file" "files/jobs.yaml") | fromYaml).jobs -}}{{- $jobs = append $jobs .name -}}{{- end -}}
{{- range $name, $job := .Values.flink.jobs -}}
{{- if not (has $name $jobs) -}}
{{- fail (printf "flink.jobs.%s: there is no such job; jobs are %s" $name (join ", " $jobs)) -}}
{{- end -}}
{{- end -}}
{{- $chosen := (include "counterflow.jobs" . | fromJson).jobs -}}
{{- if and .Values.flink.enabled (not $chosen) -}}
{{- fail "flink.jobs disables every job: set flink.enabled=false" -}}
{{- end -}}
{{- range $chosen -}}
{{- $name := include "counterflow.flinkName" (dict "root" $ "job" .) -}}
{{- if gt (len $name) 45 -}}
{{- fail (printf "%s is longer than the 45 characters of a FlinkDeployment's name: set fullnameOverride" $name) -}}
{{- end -}}
{{- end -}}
{{- range $name, $agent := .Values.agents -}}
{{- if and $agent.spool (ne $agent.kind "Deployment") -}}
{{- fail (printf "agents.%s.spool keeps answers of queried systems, files wait by themselves: set kind: Deployment" $name) -}}
{{- end -}}
{{- if and $agent.hostPaths (ne $agent.kind "DaemonSet") -}}
{{- fail (printf "agents.%s.hostPaths are paths of nodes: set kind: DaemonSet" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
