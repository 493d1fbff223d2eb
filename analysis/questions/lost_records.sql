-- Was any record lost between an agent and the tables? What is under way counts as lost until it has landed.
-- section: Data and pipeline
SELECT agent_id, landed, deadletters, lost, repeated, first_seq, last_seq
FROM counterflow.loss
ORDER BY lost DESC, repeated DESC, agent_id
LIMIT 200
