import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Belfry } from '#belfry.ts'
import { loadAccount } from '#identity/accounts.ts'
import { createToken } from '#identity/tokens.ts'
import { sql } from '#platform/database.ts'
import { hashPassword, randomText } from '#platform/secrets.ts'
import { Stage, StoryClock } from '#seed/stage.ts'
import { keepState } from '#web/page-states.ts'
import { companyScenes } from './company.ts'
import { conversationScenes } from './conversations.ts'
import { addDeliveries } from './deliveries.ts'
import { driftScenes } from './drift.ts'
import { engineScenes } from './engine.ts'
import { escapementScenes } from './escapement.ts'
import { importScenes } from './imported.ts'
import { journalScenes } from './journal.ts'
import { ledgerScenes, measurementScenes } from './measurements.ts'
import { notebookScenes } from './notebook.ts'
import { gather, peopleScenes, visitors } from './people.ts'
import { programScenes } from './programs.ts'
import { ringerScenes } from './ringer.ts'
import { timeOf } from './scenes.ts'
import { towerScenes } from './tower.ts'

/** Credentials of the demo's users, printed once. */
export interface DemoAccess {
  /** One for all users, random for each server, because a well-known password would open a public server. Undefined: it is lost. */
  password?: string
  /** API tokens by login. */
  tokens: Record<string, string>
  /** Paths of sign-in links by login. Each works once. */
  links: Record<string, string>
}

export interface DemoOptions {
  signal?: AbortSignal
  /** Called when the story reaches a month. */
  onMonth?: (month: string) => void
}

/**
 * Loads the story of a town that restores its clock tower: a year of acts by a dozen people, in the order of time. Returns null when it is
 * already loaded. A story that was interrupted stays as it is, because its users may be at work already.
 */
export async function loadDemo(belfry: Belfry, { signal, onMonth }: DemoOptions = {}): Promise<DemoAccess | null> {
  const { db } = belfry
  const { rowCount } = await db.query(sql`select from accounts where lower(login) = 'ada'`)
  const unfinished = join(belfry.settings.BELFRY_DATA, 'demo-unfinished')
  if (rowCount && !existsSync(unfinished)) return null
  const password = rowCount ? undefined : randomText(16)
  if (password !== undefined) {
    writeFileSync(unfinished, '')
    await tell(belfry, await hashPassword(password), signal, onMonth)
  }
  const credentials = await issueCredentials(belfry)
  rmSync(unfinished)
  return { ...(password !== undefined && { password }), ...credentials }
}

async function tell(belfry: Belfry, password_hash: string, signal: AbortSignal | undefined, onMonth: DemoOptions['onMonth']) {
  const { now } = belfry.db
  const scenes = [
    ...[...peopleScenes, ...towerScenes, ...engineScenes, ...escapementScenes, ...ringerScenes, ...driftScenes],
    ...[
      ...measurementScenes(now),
      ...ledgerScenes,
      ...journalScenes(now),
      ...notebookScenes(now),
      ...importScenes,
      ...conversationScenes,
      ...companyScenes,
      ...programScenes,
    ],
  ].map((each) => ({ ...each, at: timeOf(each, now) }))
  const clock = new StoryClock(timeOf({ days: 370, hour: 9 }, now))
  await using stage = new Stage(belfry, clock)
  await gather(stage, password_hash)
  for (const { at, play } of scenes.sort((one, other) => one.at.getTime() - other.at.getTime())) {
    signal?.throwIfAborted()
    onMonth?.(at.toLocaleString('en', { month: 'long', timeZone: 'UTC' }))
    clock.moveTo(at)
    await play(stage)
    await stage.notify()
  }
  await addDeliveries(stage)
}

/** With the present time: a token that nobody used for a year expires. */
async function issueCredentials({ db, vault }: Belfry) {
  const tokens: DemoAccess['tokens'] = {}
  const links: DemoAccess['links'] = {}
  await db.transaction(async (transaction) => {
    for (const login of visitors) {
      const user = await loadAccount(transaction, login)
      const scopes = ['repo', 'user', 'notifications', 'admin:org', 'delete_repo', 'admin:repo_hook']
      tokens[login] = (await createToken(transaction, user, { note: 'Demo', scopes })).token
      links[login] = `/login/once/${await keepState(transaction, vault, user, 'sign_in', {})}`
    }
  })
  return { tokens, links }
}
