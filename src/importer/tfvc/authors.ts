import type { Author } from '#importer/source.ts'
import { validPerson } from '#importer/staging/fast-import.ts'
import type { Identity } from './changesets.ts'

/** The email is the sign-in address, or is made from the account name if that is not an address. */
export function authorOf({ id, displayName, uniqueName }: Identity): Author {
  const remote_id = uniqueName || displayName || id || 'unknown'
  const remote_name = displayName || remote_id
  return { remote_id, remote_name, ...validPerson(remote_name, addressOf(remote_id)) }
}

function addressOf(account: string) {
  if (/^[^@\s\\]+@[^@\s\\]+$/.test(account)) return account
  const [, domain = 'tfvc', user = account] = /^([^\\]+)\\(.+)$/.exec(account) ?? []
  return `${plain(user)}@${plain(domain)}`
}

function plain(text: string) {
  return text.replace(/[\s@\\]+/g, '_')
}
