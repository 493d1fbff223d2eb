-- Datasets of each system on the days of the range, alone and with the format that they were read from.
SELECT
  system,
  groupUniqArrayArray([toString(dataset), concat(dataset, '/', splitByChar('.', source)[1])]) AS datasets
FROM counterflow.system_dataset
WHERE day >= toDate($__fromTime, 'UTC') AND day <= toDate($__toTime, 'UTC') AND system IN (${system:singlequote})
GROUP BY system
