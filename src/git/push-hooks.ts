import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { Refusal } from '#platform/errors.ts'
import type { GitLimits } from './limits.ts'

/** Belfry's hooks. They are outside the repositories, and a push cannot add hooks. */
const hooks = join(import.meta.dirname, 'hooks')

/** What a push must comply with, for a ref that has rules. */
export interface ProtectedRef {
  ref: string
  /** The name is refused, see `isReserved`. */
  reserved?: boolean
  /** It may move forward only. */
  forward: boolean
  /** It must get no merge commits. */
  linear: boolean
  /** Why it must not move at all. */
  refusal: string | null
}

/** Hooks that an operator installed in a repository run too. Without them, and without protected refs, git starts no process for each ref. */
function hooksFor(path: string, guarded: ProtectedRef[]) {
  return join(hooks, existsSync(join(path, 'hooks')) ? 'chained' : guarded.length ? 'guarded' : 'ours')
}

/** In bytes. Linux passes no longer variable to a process than 128 KB. */
const longestRules = 100_000

const clean = (text: string) => text.replaceAll(/\p{Cc}/gu, ' ')

/** A line for each ref, as hooks/guarded/update reads it. */
function writeRules(guarded: ProtectedRef[]) {
  const lines = guarded.map(
    ({ ref, reserved, forward, linear, refusal }) =>
      `${ref} ${reserved ? 'reserved' : forward ? 'forward' : 'any'} ${linear ? 'linear' : 'any'} ${clean(refusal ?? '')}`,
  )
  const text = lines.join('\n')
  if (Buffer.byteLength(text) > longestRules)
    throw new Refusal('too_large', 'The push moves too many protected branches: push them in parts.')
  return text
}

/** Limit of one allocation by git, in bytes: git unpacks objects, and tables of a large pack, in memory before our check sees their size. */
const largestAllocation = 1 << 30

export function pushSettings(path: string, limits: GitLimits, guarded: ProtectedRef[]) {
  return {
    configured: [`receive.maxInputSize=${limits.push}`, `core.hooksPath=${hooksFor(path, guarded)}`],
    environment: {
      BELFRY_PROTECTED: writeRules(guarded),
      BELFRY_LARGEST_OBJECT: `${limits.object}`,
      GIT_ALLOC_LIMIT: `${Math.max(largestAllocation, limits.object)}`,
    },
  }
}

/** What decides about a push besides git. */
export interface PushChecks {
  guarded: ProtectedRef[]
  /** Called when the pack is complete, before refs move. Returns why the push may not go on. */
  confirm: () => Promise<string | undefined>
}

/** Answers the question of hooks/checks/access. */
export function answerHook(channel: Duplex, confirm: PushChecks['confirm']) {
  channel.on('data', async () => channel.write(`${clean((await confirm()) ?? 'ok')}\n`))
}
