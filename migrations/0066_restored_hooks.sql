-- A server that is restored from a backup pauses its webhooks, because the server it was copied from may still run.
alter table hooks drop constraint hooks_paused_reason_check;
alter table hooks add constraint hooks_paused_reason_check
  check (paused_reason in ('maker_lost_access', 'maker_suspended', 'maker_deleted', 'restored'));
