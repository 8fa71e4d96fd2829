-- Whether the subject of a thread decides who sees it, and not its repository alone: an invitation, a transfer, a hook or a release. All other
-- subjects exist as long as their repository does. So a list is counted by repository, without reading a subject for each thread.
alter table threads add column conditional boolean not null default false;
update threads t set conditional = true from notification_subjects s
  where s.id = t.subject_id and num_nonnulls(s.invitation_id, s.transfer_id, s.hook_id, s.release_id) > 0;

-- Counting reads nothing but the index.
drop index threads_unread;
create index threads_unread on threads (user_id, updated_at, id) include (repo_id, conditional) where unread;
drop index threads_inbox;
create index threads_inbox on threads (user_id, updated_at, id) include (repo_id, conditional) where not done;
