-- When the delivering service last renewed its claim on an alert. A later row with the same version replaces the earlier one. Another
-- service takes over a pending alert only if this was long ago.
ALTER TABLE alerts ADD COLUMN IF NOT EXISTS renewed_at DateTime64(3, 'UTC') DEFAULT fired_at
