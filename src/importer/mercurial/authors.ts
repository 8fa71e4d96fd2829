import type { Author } from '#importer/source.ts'
import { describePerson } from '#importer/staging/fast-import.ts'

/** A Mercurial user is free text, by convention `Name <address>`. */
export function readAuthor(user: string): Author & { described: string } {
  const line = user.replaceAll('\0', '').slice(0, 500)
  const parts = /^(.*?)\s*<([^<>]*)>?[^<>]*$/s.exec(line)
  const address = (parts ? parts[2] : /^\S+@\S+$/.test(line) ? line : '')?.trim() ?? ''
  const described = describePerson((parts ? parts[1] : line)?.trim() || address, address || 'none@none')
  const at = described.lastIndexOf(' <')
  return {
    remote_id: line,
    remote_name: line,
    name: described.slice(0, at),
    email: described.slice(at + 2, -1),
    described,
  }
}
