import { Refusal } from '#platform/errors.ts'
import { type Command, noObject } from './ref-command.ts'
import type { Storage } from './storage.ts'

/** Git's rules for a full ref name, such as `refs/heads/main`. */
export function isRefName(name: string): boolean {
  const parts = name.split('/')
  return (
    name.isWellFormed() &&
    Buffer.byteLength(name) <= 1000 &&
    parts[0] === 'refs' &&
    parts.length > 2 &&
    parts.every((part) => part !== '' && Buffer.byteLength(part) <= 250 && !part.startsWith('.') && !/\.lock$|\.$/.test(part)) &&
    !/[\p{Cc} ~^:?*[\\]|\.\.|@\{/u.test(name)
  )
}

/**
 * Whether a branch or tag has a name that stands for something else: a full ref name, HEAD, or the id of an object. Such refs may exist from
 * before; new ones are refused.
 */
export const isReserved = (ref: string) =>
  /^refs\/(?:heads|tags)\/(?:refs\/|HEAD$|(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64})$)/.test(ref)

export const reserved = 'The name of a branch or tag must not begin with refs/, be HEAD, or be 40 or 64 hexadecimal digits.'

/** The refs that a push would create under a reserved name. */
export const reservedIn = (commands: Command[]) =>
  commands.filter(({ ref, before, after }) => before === noObject && after !== noObject && isReserved(ref))

/**
 * Refuses commands that would decide about one ref twice: rules are checked once for each ref. On a file system that does not distinguish case,
 * refs whose names differ in case are one file, so a new one would move a branch with another name.
 */
export async function checkDistinct(storage: Storage, repo_id: number, commands: Command[]) {
  if (commands.some(({ before, after }) => before === noObject && after === noObject))
    throw new Refusal('malformed', 'A push must name the commit of a ref that it deletes.')
  const fold = storage.ignoresCase() ? foldCase : (ref: string) => ref
  const names = new Set(commands.map(({ ref }) => fold(ref)))
  if (names.size < commands.length) throw new Refusal('invalid', 'A push must not name a ref twice.')
  if (fold !== foldCase) return
  const wanted = new Map(commands.map(({ ref }) => [fold(ref), ref]))
  for (const name of (await storage.refsOf(repo_id)).keys()) {
    const ref = wanted.get(fold(name))
    if (ref !== undefined && ref !== name)
      throw new Refusal('invalid', `${ref} and ${name} differ in case only: rename one of them.`)
  }
}

/** At least as coarse as the file systems of macOS and Windows. */
const foldCase = (name: string) => name.normalize('NFKD').toUpperCase().toLowerCase()
