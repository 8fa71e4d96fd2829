import type { Kind } from '#importer/source.ts'
import { invalid } from '#platform/errors.ts'
import { checkUrl } from '#platform/outbound/check-url.ts'
import type { Policy } from '#platform/outbound/policy.ts'
import type { Credentials } from './credentials.ts'

/** The address of a source, and the credentials that it contained. */
export interface SourceUrl {
  vcs_url: string
  credentials: Credentials
}

const httpSchemes = ['http:', 'https:']
/** The protocols of each kind, and of a kind that is not known yet. */
const protocols: Record<Kind | 'unknown', string[]> = {
  git: httpSchemes,
  mercurial: httpSchemes,
  tfvc: httpSchemes,
  subversion: [...httpSchemes, 'svn:'],
  unknown: [...httpSchemes, 'svn:'],
}

/**
 * Parses the address that a user typed. Other programs get it as an argument, so anything that they could read differently is refused. A
 * user name and password are removed from it.
 */
export function readSourceUrl(text: string, vcs: Kind | null, policy: Policy): SourceUrl {
  const trimmed = text.trim()
  if (trimmed === '') throw invalidField('vcs_url cannot be blank')
  if (/[\p{Cc}\p{Cf}\p{Z}\\]/u.test(trimmed) || !trimmed.isWellFormed())
    throw unsupported('it has characters that are not allowed in a URL')
  if (!/^[a-z]+:\/\/[^/]/i.test(trimmed)) throw unsupported('it does not begin with http://, https:// or svn:// and a host name')
  const url = URL.parse(trimmed)
  if (!url) throw unsupported('it is not a URL')
  if (/[?#]/.test(trimmed)) throw unsupported('it has a query or a fragment: leave out the part from ? or # on')
  if (/%(0|1|7f)/i.test(url.pathname)) throw unsupported('its path has control characters')
  const credentials = { username: decode(url.username), password: decode(url.password) }
  const bare = trimmed.replace(/^([a-z]+:\/\/)[^/]*@/i, '$1')
  const checked = checkUrl(bare, policy, protocols[vcs ?? 'unknown'])
  if ('refused' in checked) throw unsupported(checked.refused)
  return { vcs_url: checked.url.href, credentials }
}

function decode(text: string): string | null {
  if (text === '') return null
  try {
    const decoded = decodeURIComponent(text)
    if (!/\p{Cc}/u.test(decoded)) return decoded
  } catch {
    // Reported below.
  }
  throw unsupported('its user name or password cannot be decoded: send them as vcs_username and vcs_password')
}

const invalidField = (message: string) => invalid({ resource: 'Import', code: 'custom', field: 'vcs_url', message })
const unsupported = (why: string) => invalidField(`vcs_url is not supported because ${why}`)
