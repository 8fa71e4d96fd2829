import { ImportFailure } from '#importer/source.ts'

/** What a failure of `svn` or `svnrdump` means for a person, by the numbers that it names. */
export function explain(complaint: string, known: boolean): ImportFailure {
  const has = (...codes: string[]) => codes.some((code) => complaint.includes(code))
  if (has('E170001', 'E215004', 'E175013', 'E220001')) {
    const words = known
      ? 'The Subversion server does not accept this user name and password, or does not let them read this.'
      : 'The Subversion server asks for a user name and a password.'
    return new ImportFailure(words, 'auth')
  }
  if (has('E230001')) return new ImportFailure('The certificate of the Subversion server is not trusted.')
  if (has('E160013', 'E170000', 'E200009', 'E160006', 'E180001'))
    return new ImportFailure('The Subversion server has nothing at this path.')
  if (has('E170013', 'E000111', 'E000110', 'E000113', 'E670002', 'E120171', 'E210002'))
    return new ImportFailure('The Subversion server cannot be reached, or ended the connection. Start the import again to go on.')
  const [line = 'it gave no reason'] = complaint.split('\n').filter((text) => /^svn(rdump)?: E/.test(text))
  // The address in it would be ours, not theirs.
  const words = line.replace(/^svn(rdump)?: (E\d+: )?/, '').replace(/'?\b(svn|https?):\/\/[^\s']*'?/g, 'the server')
  return new ImportFailure(`Subversion could not go on: ${words.slice(0, 300)}`)
}
