ALTER TABLE project_members ON CLUSTER 'fleet' MODIFY SETTING non_replicated_deduplication_window = 1000
