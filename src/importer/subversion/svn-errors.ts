import { ImportFailure } from '#importer/source.ts'

/** Turns an error of `svn` or `svnrdump` into a message for the user, by its error codes. */
export function explain(stderr: string, known: boolean): ImportFailure {
  const has = (...codes: string[]) => codes.some((code) => stderr.includes(code))
  if (has('E170001', 'E215004', 'E175013', 'E220001')) {
    const words = known
      ? 'The Subversion server does not accept this user name and password, or this account may not read the repository.'
      : 'The Subversion server asks for a user name and a password.'
    return new ImportFailure(words, 'auth')
  }
  if (has('E230001')) return new ImportFailure('The certificate of the Subversion server is not trusted.')
  if (has('E160013', 'E170000', 'E200009', 'E160006', 'E180001'))
    return new ImportFailure('The Subversion server has nothing at this path.')
  if (has('E170013', 'E000111', 'E000110', 'E000113', 'E670002', 'E120171', 'E210002'))
    return new ImportFailure('The Subversion server is not reachable, or closed the connection. Restart the import to resume.')
  const [line = 'it gave no reason'] = stderr.split('\n').filter((text) => /^svn(rdump)?: E/.test(text))
  // The address in the text may be our tunnel.
  const words = line.replace(/^svn(rdump)?: (E\d+: )?/, '').replace(/'?\b(svn|https?):\/\/[^\s']*'?/g, 'the server')
  return new ImportFailure(`Subversion failed: ${words.slice(0, 300)}`)
}
