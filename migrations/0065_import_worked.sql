-- The seconds that an import was worked on, without the time in which it waited for its user. Null for imports of older versions that have ended.
alter table imports add column worked double precision;
