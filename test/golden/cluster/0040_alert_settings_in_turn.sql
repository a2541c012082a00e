ALTER TABLE alert_settings ON CLUSTER 'fleet' MODIFY SETTING non_replicated_deduplication_window = 1000
