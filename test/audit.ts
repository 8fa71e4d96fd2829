import assert from 'node:assert/strict'
import { auditedActs } from '#activity/audited-acts.ts'
import { raw, sql } from '#platform/database.ts'
import { type Forge, withPeople } from './forge.ts'

/** The tables that say who may do what, and columns of them that do not. */
export const rightsTables: Record<string, string[]> = {
  tokens: ['last_used_at'],
  token_repositories: [],
  ssh_keys: [],
  feed_keys: ['last_used_at'],
  grants: [],
  applications: [],
  apps: [],
  app_keys: [],
  installations: [],
  installation_repositories: [],
  hooks: ['last_code', 'last_status', 'last_message', 'last_delivered_at', 'failures', 'throttled_until', 'paused_at'],
  memberships: ['public'],
  teams: [],
  team_members: [],
  team_repositories: [],
  collaborators: [],
  branch_protections: [],
  two_factor: ['last_step', 'recovery_salt'],
}

/** Of these tables, only some columns say who may do what. */
const rightsColumns: Record<string, string[]> = {
  accounts: ['site_admin', 'suspended_at', 'member_access', 'members_can_fork_private_repositories', 'password_hash'],
  repositories: ['owner_id', 'private', 'archived', 'allow_forking'],
}

const noteChange = `
  create function note_change() returns trigger language plpgsql as $$
  declare
    before jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) end;
    after jsonb := case when tg_op <> 'DELETE' then to_jsonb(new) end;
    ignored text[] := tg_argv[0]; decisive text[] := tg_argv[1];
  begin
    if tg_op = 'UPDATE' and decisive <> '{}' then
      before := (select jsonb_object_agg(name, before->name) from unnest(decisive) name);
      after := (select jsonb_object_agg(name, after->name) from unnest(decisive) name);
    end if;
    if tg_op <> 'UPDATE' or before - ignored <> after - ignored then
      insert into noted_changes values (pg_current_xact_id(), tg_table_name, tg_op);
    end if;
    return null;
  end $$`

const trigger = (event: string, table: string, ignored: string[], decisive: string[] = []) => `
  create trigger note_${event.replaceAll(/\W/g, '_')} after ${event} on ${table} for each row
  execute function note_change('{${[...ignored, 'updated_at'].join()}}', '{${decisive.join()}}')`

const watched = [
  'create table noted_changes (xid xid8, name text, op text)',
  noteChange,
  ...Object.entries(rightsTables).map(([table, ignored]) => trigger('insert or update or delete', table, ignored)),
  ...Object.entries(rightsColumns).map(([table, decisive]) => trigger('update', table, [], decisive)),
  trigger('delete', 'repositories', []),
  trigger('insert', 'audit_entries', []),
]

/** A forge that notes which transactions change rights, and which of them are in the audit log. */
export async function openWatched() {
  await using undo = new AsyncDisposableStack()
  const forge = undo.use(await withPeople('ada', 'ben', 'cy')())
  const { db } = forge.belfry
  undo.defer(async () => {
    for (const statement of ['drop function if exists note_change cascade', 'drop table if exists noted_changes'])
      await db.query(raw(statement))
  })
  for (const statement of watched) await db.query(raw(statement))
  const kept = undo.move()
  return Object.assign(forge, { watch: watcherOf(forge), [Symbol.asyncDispose]: () => kept.disposeAsync() })
}

const driven = new Set<string>()

/** Runs a step, which must be recorded as these acts in the transaction of each change of rights. */
const watcherOf =
  ({ belfry: { db } }: Forge) =>
  async <T>(expected: string, step: () => Promise<T>): Promise<T> => {
    await db.query(sql`delete from noted_changes`)
    const last = await db.first<{ id: number }>(sql`select coalesce(max(id), 0) as id from audit_entries`)
    const result = await step()
    const { status = 200 } = (result ?? {}) as { status?: number }
    assert.ok(
      status < 400,
      `${expected}: ${status} ${result instanceof Response ? await result.clone().text() : JSON.stringify(result)}`,
    )
    const silent = await db.rows(sql`
      select distinct name, op from noted_changes c where name <> 'audit_entries'
        and not exists (select from noted_changes a where a.xid = c.xid and a.name = 'audit_entries')`)
    assert.deepEqual(silent, [], `${expected}: a change of rights is not recorded in its transaction`)
    const entries = await db.rows<{ action: string }>(
      sql`select action from audit_entries where id > ${last?.id ?? 0} order by id`,
    )
    const actions = [...new Set(entries.map(({ action }) => action))].sort()
    assert.deepEqual(actions, expected.split(' ').sort())
    for (const action of actions) driven.add(action)
    return result
  }

/** The acts that no step was recorded as. */
export const undriven = () => auditedActs.filter((act) => !driven.has(act))
