-- When the step under way began: what people change meanwhile does not begin it anew, and how long it takes is told by it.
alter table imports add column step_at timestamptz;
update imports set step_at = updated_at;
alter table imports alter column step_at set not null;
