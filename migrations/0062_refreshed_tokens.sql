-- The authorization code that a refresh token descends from: a code that is presented twice ends the tokens refreshed from it too.
alter table refresh_tokens add column code_digest bytea;
update refresh_tokens r set code_digest = t.code_digest from tokens t where t.id = r.token_id and t.code_digest is not null;
create index refresh_tokens_code on refresh_tokens (code_digest) where code_digest is not null;
