import { streamGit } from '#git/run-git.ts'
import type { Author, Workspace } from '#importer/source.ts'
import { lines } from '#importer/staging/blobs.ts'
import { prefix } from './refs.ts'

const batch = 500
/** In bytes: who is called more than that is nobody who could be corrected. */
const longest = 1000

/** Tells of everybody whom commits and tags name, as they are found; gives the number of commits. */
export async function collectIdentities({ repository, signal, onProgress }: Workspace): Promise<number> {
  const seen = new Set<string>()
  let found: Author[] = []
  /** A name and an email, as bytes with a zero between: most of them were seen before, and are not looked at. */
  const take = (line: string) => {
    if (seen.has(line) || line.length > longest) return
    seen.add(line)
    const [name = '', email = ''] = Buffer.from(line, 'latin1').toString().split('\0')
    found.push({ remote_id: `${name} <${email}>`.trim(), remote_name: name, name, email })
    if (found.length < batch) return
    onProgress({ authors: found })
    found = []
  }
  let written = 0
  // As the commits have them, whatever encoding they claim: that is what a correction looks for.
  const log = ['log', '--encoding=none', '--format=%an%x00%ae%n%cn%x00%ce', `--glob=${prefix}`]
  for await (const group of lines(streamGit(repository, log, { signal, detached: false }))) {
    written += group.length
    group.forEach(take)
  }
  const tags = ['for-each-ref', '--format=%(taggername)%00%(taggeremail:trim)', `${prefix}tags`]
  for await (const group of lines(streamGit(repository, tags, { signal, detached: false }))) {
    // A tag without a text of its own is by nobody.
    for (const line of group) if (line !== '\0') take(line)
  }
  if (found.length > 0) onProgress({ authors: found })
  return written / 2
}
