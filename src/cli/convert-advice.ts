import type { ImportFailure, Kind } from '#importer/source.ts'
import { UsageError } from './command.ts'
import type { Options } from './convert-options.ts'

/** The importer's messages are for a server. */
const ofServer: [string, string][] = [
  ['Restart the import', 'Run the same command again'],
  ['restart the import', 'run the same command again'],
  ['Cancel the import and start a new one', 'Convert it into another folder'],
  ['Start an import from', 'Convert from'],
  ['Check vcs_url, or leave out vcs to have the kind detected', 'Check the address, or leave out --kind to have it detected'],
]

/** The message of a failure, with the options that help. */
export function advise({ message, kind }: ImportFailure, { username, password, project }: Options): string {
  const text = ofServer.reduce((result, [before, after]) => result.replaceAll(before, after), message)
  if (kind === 'auth')
    return username !== null && password !== null
      ? `${text} Check --username and the variable BELFRY_SOURCE_PASSWORD.`
      : `${text} Give --username, and the password in the variable BELFRY_SOURCE_PASSWORD.`
  return project !== null && text.includes('nothing at this path') ? `${text} Check --project ${project}.` : text
}

/** The kinds of sources that an option is for. */
const usedBy: Record<string, Kind[]> = {
  layout: ['subversion'],
  'svn-ignore': ['subversion'],
  gitattributes: ['subversion'],
  'keep-deleted': ['subversion', 'mercurial'],
  project: ['subversion', 'tfvc'],
  projects: ['subversion'],
}

/** Refuses options that would do nothing. */
export function checkUsed({ history }: Options, vcs: Kind) {
  const unused = Object.keys(history).find((name) => usedBy[name]?.includes(vcs) === false)
  if (unused !== undefined) throw new UsageError(`--${unused} does nothing for a ${vcs} repository`, 'convert')
}
