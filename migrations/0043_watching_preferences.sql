-- Which repositories a user watches without having chosen to. A user without a row watches both.
create table watching_preferences (
  user_id bigint primary key references accounts on delete cascade,
  watches_created boolean not null,
  watches_given boolean not null
);
