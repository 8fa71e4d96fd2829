-- Open pages of a conversation show a new reaction. Reactions to releases and to comments on commits have no such page.
create function touch_conversations_of_reactions() returns trigger language plpgsql as $$
begin
  perform touch_topics(array(
    select 'c' || i.repo_id from changed x join issues i on i.id = x.issue_id
    union select 'c' || c.repo_id from changed x join comments c on c.id = x.comment_id
    union select 'c' || c.repo_id from changed x join review_comments c on c.id = x.review_comment_id));
  return null;
end
$$;

create trigger touch_conversations_on_insert after insert on reactions referencing new table as changed
  for each statement execute function touch_conversations_of_reactions();
create trigger touch_conversations_on_delete after delete on reactions referencing old table as changed
  for each statement execute function touch_conversations_of_reactions();
