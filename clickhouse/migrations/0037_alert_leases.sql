-- When the service that delivers an alert last said so: a later row with the same version replaces the one before. Another service takes
-- over a pending alert only when this is long ago.
ALTER TABLE alerts ADD COLUMN IF NOT EXISTS renewed_at DateTime64(3, 'UTC') DEFAULT fired_at
