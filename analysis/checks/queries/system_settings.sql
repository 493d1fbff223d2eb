-- performance_adjustment: System value QPFRADJ; `config` SYSTEM_VALUE_INFO, CURRENT_CHARACTER_VALUE.
-- multitasking: System value QPRCMLTTSK; `config` SYSTEM_VALUE_INFO, CURRENT_CHARACTER_VALUE.
-- dedicated_processors: The partition does not share its processors; `config` QAPMSYSTEM, SYSHRF.
-- storage: `ssd` where every configured unit is solid state; `config` SYSDISKSTAT, UNIT_TYPE.
-- qdbmsrvr_inljobs: INLJOBS of QDBMSRVR, the least of the active subsystems; `config` PRESTART_JOB_INFO, INITIAL_JOBS.
-- qdbmsrvr_threshold: THRESHOLD of it, likewise; `config` PRESTART_JOB_INFO, THRESHOLD.
-- qdbmsrvr_adljobs: ADLJOBS of it, likewise; `config` PRESTART_JOB_INFO, ADDITIONAL_JOBS.
-- qdbmsrvr_maxuse: MAXUSE of it: `*NOMAX` where all have it; `config` PRESTART_JOB_INFO, MAXIMUM_USES.
-- journals_open_close: A journaled file has open and close entries; `config` JOURNALED_OBJECTS, FILES_WITH_OPEN_CLOSE.
-- journals_before_images: A journaled file has before images; `config` JOURNALED_OBJECTS, FILES_WITH_BEFORE_IMAGES.
-- journaled_files: Journaled database files, mirrored or not; `config` JOURNALED_OBJECTS, JOURNALED_FILES.
-- files_with_open_close: Those with open and close entries; `config` JOURNALED_OBJECTS, FILES_WITH_OPEN_CLOSE.
-- files_with_before_images: Those with before images; `config` JOURNALED_OBJECTS, FILES_WITH_BEFORE_IMAGES.
/* A setting is sent when it changes, so the newest before the end counts, however old; of systems that were measured in the time. */
WITH settings AS (
  SELECT system, section, item, name, argMax(config.value, ts) AS value
  FROM counterflow.config FINAL
  WHERE source = 'ibmi_tables' AND ts <= {until:DateTime64(3)}
    AND section IN ('SYSTEM_VALUE_INFO', 'QAPMSYSTEM', 'SYSDISKSTAT', 'PRESTART_JOB_INFO', 'JOURNALED_OBJECTS')
    AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, system))
    AND system IN (
      SELECT system FROM counterflow.manifest WHERE ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
    )
  GROUP BY system, section, item, name
),
active AS (
  SELECT system, item FROM settings
  WHERE section = 'PRESTART_JOB_INFO' AND name = 'SUBSYSTEM_ACTIVE' AND value = 'YES'
)
SELECT
  system,
  maxIf(toInt8OrNull(value), section = 'SYSTEM_VALUE_INFO' AND item = 'QPFRADJ' AND name = 'CURRENT_CHARACTER_VALUE')
    AS performance_adjustment,
  maxIf(toInt8OrNull(value), section = 'SYSTEM_VALUE_INFO' AND item = 'QPRCMLTTSK' AND name = 'CURRENT_CHARACTER_VALUE')
    AS multitasking,
  CAST(minIf(multiIf(value IN ('N', '0'), 1, value IN ('Y', '1'), 0, NULL), section = 'QAPMSYSTEM' AND name = 'SYSHRF') AS Nullable(Bool))
    AS dedicated_processors,
  if(
    countIf(section = 'SYSDISKSTAT' AND name = 'UNIT_TYPE') > 0
      AND countIf(section = 'SYSDISKSTAT' AND name = 'UNIT_TYPE' AND value != '1') = 0,
    'ssd',
    NULL
  ) AS storage,
  minIf(toFloat64OrNull(value), entry AND name = 'INITIAL_JOBS') AS qdbmsrvr_inljobs,
  minIf(toFloat64OrNull(value), entry AND name = 'THRESHOLD') AS qdbmsrvr_threshold,
  minIf(toFloat64OrNull(value), entry AND name = 'ADDITIONAL_JOBS') AS qdbmsrvr_adljobs,
  nullIf(maxIf(if(value = '-1', '*NOMAX', value), entry AND name = 'MAXIMUM_USES'), '') AS qdbmsrvr_maxuse,
  CAST(if(journaled_files = 0, NULL, files_with_open_close > 0) AS Nullable(Bool)) AS journals_open_close,
  CAST(if(journaled_files = 0, NULL, files_with_before_images > 0) AS Nullable(Bool)) AS journals_before_images,
  maxIf(toFloat64OrNull(value), section = 'JOURNALED_OBJECTS' AND name = 'JOURNALED_FILES') AS journaled_files,
  maxIf(toFloat64OrNull(value), section = 'JOURNALED_OBJECTS' AND name = 'FILES_WITH_OPEN_CLOSE') AS files_with_open_close,
  maxIf(toFloat64OrNull(value), section = 'JOURNALED_OBJECTS' AND name = 'FILES_WITH_BEFORE_IMAGES')
    AS files_with_before_images
FROM (
  SELECT *, section = 'PRESTART_JOB_INFO' AND (system, item) IN (SELECT system, item FROM active) AS entry
  FROM settings
)
GROUP BY system
