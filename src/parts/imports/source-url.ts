import type { Kind } from '#importer/source.ts'
import { invalid } from '#platform/errors.ts'
import { checkUrl } from '#platform/outbound/check-url.ts'
import type { Policy } from '#platform/outbound/policy.ts'
import type { Credentials } from './credentials.ts'

/** Where a source is, and who its address says we are there. */
export interface Location {
  vcs_url: string
  credentials: Credentials
}

const web = ['http:', 'https:']
/** By which protocols each kind is reached, and one that is not known yet. */
const protocols: Record<Kind | 'unknown', string[]> = {
  git: web,
  mercurial: web,
  tfvc: web,
  subversion: [...web, 'svn:'],
  unknown: [...web, 'svn:'],
}

/**
 * Reads an address that somebody typed. It comes to be part of what other programs are told, so nothing is taken that any of them could
 * read otherwise than we do; and what it says of a user and a password is taken out of it.
 */
export function readLocation(text: string, vcs: Kind | null, policy: Policy): Location {
  const typed = text.trim()
  if (typed === '') throw wrong('vcs_url cannot be blank')
  if (/[\p{Cc}\p{Cf}\p{Z}\\]/u.test(typed) || !typed.isWellFormed()) throw refused('it holds characters that no address has')
  if (!/^[a-z]+:\/\/[^/]/i.test(typed)) throw refused('it does not begin with http://, https:// or svn:// and the name of a host')
  const url = URL.parse(typed)
  if (!url) throw refused('it is not a URL')
  if (/[?#]/.test(typed)) throw refused('it has more than a path: leave out what begins with ? or #')
  if (/%(0|1|7f)/i.test(url.pathname)) throw refused('its path holds control characters')
  const credentials = { username: decode(url.username), password: decode(url.password) }
  const bare = typed.replace(/^([a-z]+:\/\/)[^/]*@/i, '$1')
  const checked = checkUrl(bare, policy, protocols[vcs ?? 'unknown'])
  if ('refused' in checked) throw refused(checked.refused)
  return { vcs_url: checked.url.href, credentials }
}

function decode(text: string): string | null {
  if (text === '') return null
  try {
    const decoded = decodeURIComponent(text)
    if (!/\p{Cc}/u.test(decoded)) return decoded
  } catch {
    // Said below.
  }
  throw refused('its user name or password cannot be read: send them as vcs_username and vcs_password')
}

const wrong = (message: string) => invalid({ resource: 'Import', code: 'custom', field: 'vcs_url', message })
const refused = (why: string) => wrong(`vcs_url is not supported because ${why}`)
