-- Changes of the alert settings of one project run one after the other: the store keeps the first insert with a token; see change-in-turn.ts.
ALTER TABLE alert_settings MODIFY SETTING non_replicated_deduplication_window = 1000
