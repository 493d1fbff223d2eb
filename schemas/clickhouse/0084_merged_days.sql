-- A day that nothing was inserted into for six hours is merged into one part. FINAL and short series are then read in one
-- place: where a day has eight parts, a panel over thirty days reads eight times as many rows.
ALTER TABLE counterflow.account_cpu {on_cluster}
  MODIFY SETTING min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1;

ALTER TABLE counterflow.config {on_cluster}
  MODIFY SETTING min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1;

ALTER TABLE counterflow.counter {on_cluster}
  MODIFY SETTING min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1;

ALTER TABLE counterflow.deadletter {on_cluster}
  MODIFY SETTING min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1;

ALTER TABLE counterflow.disk {on_cluster}
  MODIFY SETTING min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1;

ALTER TABLE counterflow.disk_bucket {on_cluster}
  MODIFY SETTING min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1;

ALTER TABLE counterflow.disk_load {on_cluster}
  MODIFY SETTING min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1;

ALTER TABLE counterflow.db_log {on_cluster}
  MODIFY SETTING min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1;

ALTER TABLE counterflow.footprint {on_cluster}
  MODIFY SETTING min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1;

ALTER TABLE counterflow.io_mix {on_cluster}
  MODIFY SETTING min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1;

ALTER TABLE counterflow.job {on_cluster}
  MODIFY SETTING min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1;

ALTER TABLE counterflow.job_cpu {on_cluster}
  MODIFY SETTING min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1;

ALTER TABLE counterflow.link {on_cluster}
  MODIFY SETTING min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1;

ALTER TABLE counterflow.link_load {on_cluster}
  MODIFY SETTING min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1;

ALTER TABLE counterflow.log_load {on_cluster}
  MODIFY SETTING min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1;

ALTER TABLE counterflow.manifest {on_cluster}
  MODIFY SETTING min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1;

ALTER TABLE counterflow.metric_1m {on_cluster}
  MODIFY SETTING min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1;

ALTER TABLE counterflow.pool {on_cluster}
  MODIFY SETTING min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1;

ALTER TABLE counterflow.pool_faulting {on_cluster}
  MODIFY SETTING min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1;

ALTER TABLE counterflow.quality {on_cluster}
  MODIFY SETTING min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1;

ALTER TABLE counterflow.replication {on_cluster}
  MODIFY SETTING min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1;

ALTER TABLE counterflow.replication_lag {on_cluster}
  MODIFY SETTING min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1;

ALTER TABLE counterflow.system_cpu {on_cluster}
  MODIFY SETTING min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1;

ALTER TABLE counterflow.verdict {on_cluster}
  MODIFY SETTING min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1;

ALTER TABLE counterflow.wait {on_cluster}
  MODIFY SETTING min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1;

ALTER TABLE counterflow.wait_signature {on_cluster}
  MODIFY SETTING min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1;

ALTER TABLE counterflow.workload {on_cluster}
  MODIFY SETTING min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1;
