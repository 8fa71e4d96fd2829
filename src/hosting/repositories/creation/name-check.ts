import { checkName } from '#hosting/repositories/repositories.ts'
import type { Account } from '#identity/accounts.ts'
import { type Queryable, sql } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'

export interface NameCheck {
  available: boolean
  message: string
}

/** Tells before the form is sent whether a name can be used. It reveals nothing more than the refusal of the form would. */
export async function checkNewName(db: Queryable, owner: Account, wanted: string): Promise<NameCheck> {
  try {
    const name = checkName(wanted)
    const { rowCount } = await db.query(sql`
      select from repositories where owner_id = ${owner.id} and lower(name) = lower(${name})`)
    if (rowCount) return { available: false, message: `${owner.login}/${name} exists already.` }
    const renamed = name !== wanted.trim() && `It will be called ${name}.`
    return { available: true, message: renamed || `${owner.login}/${name} is available.` }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { available: false, message: error.faults?.[0]?.message ?? error.message }
  }
}
