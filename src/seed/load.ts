import type { Belfry } from '#belfry.ts'
import { allScopes } from '#identity/scopes.ts'
import { createToken } from '#identity/tokens.ts'
import { Refusal, StartError } from '#platform/errors.ts'
import { hashPassword, tokenFrom } from '#platform/secrets.ts'
import type { Seed, SeedAccess, SeedUser } from './format.ts'
import { derive } from './integrations.ts'
import { planSeed } from './plan.ts'
import { type ActingUser, SeedStage } from './seed-stage.ts'
import { seedError } from './source.ts'
import type { Step } from './timetable.ts'

export interface SeedOptions {
  signal?: AbortSignal
  /** Called with the number of acts that are done, and of all. */
  onProgress?: (done: number, all: number) => void
}

/**
 * Makes what a checked seed describes, by the verbs of the product, in a Belfry that has no users but the site admin. In an empty database, the
 * same seed gives the same ids, commits and tokens.
 */
export async function loadSeed(belfry: Belfry, seed: Seed, { signal, onProgress }: SeedOptions = {}): Promise<SeedAccess> {
  const { start, steps } = planSeed(seed)
  await using stage = new SeedStage(belfry, start, await hashPasswords(seed.users ?? []))
  for (let done = 0; done < steps.length; ) {
    const chunk = takeChunk(steps, done)
    let ran = 0
    const acts = async () => {
      ran = 0
      for (const { path, at, run } of chunk) {
        signal?.throwIfAborted()
        stage.clock.moveTo(at)
        stage.begin(path)
        await run(stage).catch((error) => fail(seed, stage, error))
        ran++
        if (chunk.length > 1 && (await stage.findPending()).length) return
      }
    }
    await (chunk.length > 1 ? stage.together(acts) : acts())
    await stage.notify()
    done += ran
    onProgress?.(done, steps.length)
  }
  stage.access.ends_at = stage.clock.now()
  await issueTokens(belfry, stage, seed.users ?? [])
  return stage.access
}

/** A repository's row is written by each act, and PostgreSQL walks all its versions of one transaction. */
const mostTogether = 50

/** The next step, and those after it that share its transaction. */
function takeChunk(steps: Step[], from: number): Step[] {
  const next = steps.slice(from, from + mostTogether)
  const other = next.findIndex(({ run }) => !run.shares)
  return other < 0 ? next : next.slice(0, Math.max(other, 1))
}

/** Names the part of the seed that the product refuses, and who acted. */
function fail(seed: Seed, { path, acting }: SeedStage, error: unknown): never {
  if (!(error instanceof Refusal)) throw error
  const faults = (error.faults ?? []).map(({ resource, code, field, message }) => {
    return message ?? [resource, field, code].filter(Boolean).join(' ')
  })
  const said = faults.join('; ') || error.message
  throw seedError(seed, [{ path, message: acting && isAboutAccess(error) ? describeAccess(acting, error) : said }])
}

const isAboutAccess = ({ reason }: Refusal) => reason === 'missing' || reason === 'forbidden'

/** The product hides what a user may not see. */
function describeAccess({ login, full_name }: ActingUser, { reason, message }: Refusal) {
  const said = reason === 'missing' ? `"${login}" has no access to ${full_name}` : `"${login}" may not do this: ${message}`
  return `${said.replace(/\.$/, '')}. Add "${login}" to the collaborators of ${full_name}, or name someone else here`
}

/** Each password once: a hash takes 20 ms of a processor. */
async function hashPasswords(users: SeedUser[]): Promise<Map<string, string>> {
  const passwords = [...new Set(users.flatMap(({ password }) => password ?? []))]
  const hashes = new Map(await Promise.all(passwords.map(async (one) => [one, await hashPassword(one)] as const)))
  return new Map(users.flatMap(({ login, password }) => (password === undefined ? [] : [[login, hashes.get(password) ?? '']])))
}

/** With the present time, because a token that nobody used for a year expires. */
async function issueTokens({ db, settings }: Belfry, stage: SeedStage, users: SeedUser[]) {
  const usual = allScopes.filter((scope) => scope !== 'site_admin')
  const { access } = stage
  await db.transaction(async (transaction) => {
    for (const { login, password, site_admin, tokens = [{ name: login }] } of users) {
      const user = stage.account(login)
      const all = site_admin || login === 'admin' ? allScopes : usual
      for (const { name, value, scopes = all } of tokens) {
        const token = value ?? tokenFrom('bfp_', derive('token', name))
        if (token !== settings.BELFRY_ADMIN_TOKEN) await createToken(transaction, user, { note: name, scopes, token })
        else if (login !== 'admin')
          throw new StartError(`The token "${name}" of the seed is BELFRY_ADMIN_TOKEN. Give it another value.`)
        access.tokens[name] = token
        access.users[login] ??= { login: user.login, id: user.id, token, ...(password !== undefined && { password }) }
      }
    }
  })
  access.admin_token ??= access.users.admin?.token ?? null
}
