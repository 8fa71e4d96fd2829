import { streamGit } from '#git/run-git.ts'
import type { Author, Workspace } from '#importer/source.ts'
import { lines } from '#importer/staging/blobs.ts'
import { prefix } from './refs.ts'

const batch = 500
/** In bytes. A longer identity cannot be corrected. */
const longest = 1000

/** Reports the identities of commits and tags as they are found. Returns the number of commits. */
export async function collectIdentities({ repository, signal, onProgress }: Workspace): Promise<number> {
  const seen = new Set<string>()
  let found: Author[] = []
  /** A line has the name, a zero byte and the email. Most lines were seen before and are not decoded. */
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
  // Without re-encoding, because a correction compares the bytes of the commits.
  const log = ['log', '--encoding=none', '--format=%an%x00%ae%n%cn%x00%ce', `--glob=${prefix}`]
  for await (const group of lines(streamGit(repository, log, { signal, detached: false }))) {
    written += group.length
    group.forEach(take)
  }
  const tags = ['for-each-ref', '--format=%(taggername)%00%(taggeremail:trim)', `${prefix}tags`]
  for await (const group of lines(streamGit(repository, tags, { signal, detached: false }))) {
    // A lightweight tag has no tagger.
    for (const line of group) if (line !== '\0') take(line)
  }
  if (found.length > 0) onProgress({ authors: found })
  return written / 2
}
