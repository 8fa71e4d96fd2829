import type { LoggedEvent } from '#activity/acts.ts'
import type { Account } from '#identity/accounts.ts'
import { raw, type Sql, sql } from '#platform/database.ts'
import type { Facts } from './facts.ts'

/** An event of the log, with the current names of its actor and its repository. */
export type TimelineEvent = LoggedEvent & {
  id: number
  facts: Facts | null
  public: boolean
  created_at: Date
  actor_id: number
  actor_login: string
  repo_id: number
  repo_name: string
  repo_private: boolean
  owner_id: number
  owner_login: string
  owner_type: Account['type']
  owner_site_admin: boolean
}

/** The row of an event: its records are JSON, because most of them are never parsed, see rendered.ts. */
export type EventRow = Omit<TimelineEvent, 'payload' | 'facts'> & { payload: string; facts: string | null }

export const parseEvent = (row: EventRow) =>
  ({ ...row, payload: JSON.parse(row.payload), facts: row.facts && JSON.parse(row.facts) }) as TimelineEvent

/**
 * Adds the names of actors and repositories to a query of events. They are looked up for each event: if the tables were small when the
 * statement was planned, a plain join would read them completely.
 */
export const withNames = (events: Sql) => sql`
  select e.id, e.position, e.type, e.payload::text as payload, e.facts::text as facts, e.public and not r.private as public, e.created_at, e.actor_id, a.login as actor_login,
    e.repo_id, r.name as repo_name, r.private as repo_private, r.owner_id, o.login as owner_login, o.type as owner_type,
    o.site_admin as owner_site_admin
  from (${events}) e
    cross join lateral (select r.name, r.private, r.owner_id from repositories r where r.id = e.repo_id offset 0) r
    cross join lateral (select a.login from accounts a where a.id = e.actor_id offset 0) a
    cross join lateral (select o.login, o.type, o.site_admin from accounts o where o.id = r.owner_id offset 0) o`

export const newestFirst = sql`order by e.created_at desc, e.id desc`

/** Limits are literals: with a parameter, the planner assumes a tenth of all events. */
export const literal = (number: number) => raw(String(number))
