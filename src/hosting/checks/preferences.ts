import type { Repository } from '#hosting/repositories/repositories.ts'
import { json, sql, type Transaction } from '#platform/database.ts'
import { invalid } from '#platform/errors.ts'

/** Whether an app is asked to check each push to a repository. */
export interface SuitePreference {
  app_id: number
  setting: boolean
}

/** Changes the preferences of the named apps, which must be installed on the owner's account. Returns all of the repository. */
export async function setPreferences(db: Transaction, repo: Repository, wanted: SuitePreference[]): Promise<SuitePreference[]> {
  const latest = [...new Map(wanted.map((each) => [each.app_id, each])).values()]
  const { rowCount } = await db.query(sql`
    insert into check_suite_preferences (repo_id, app_id, setting)
    select ${repo.id}, w.app_id, w.setting from jsonb_to_recordset(${json(latest)}::jsonb) as w (app_id bigint, setting boolean)
    where exists (select from installations i where i.app_id = w.app_id and i.account_id = ${repo.owner_id})
    on conflict (repo_id, app_id) do update set setting = excluded.setting`)
  if (rowCount !== latest.length) {
    const message = 'Every app_id must be the id of an app that is installed on the account of the owner.'
    throw invalid({ resource: 'CheckSuite', code: 'invalid', field: 'auto_trigger_checks', message })
  }
  return db.rows(sql`select app_id, setting from check_suite_preferences where repo_id = ${repo.id} order by app_id`)
}
