import { untrusted } from '#importer/probing.ts'
import { ImportFailure, type Origin } from '#importer/source.ts'

type Explanation = (origin: Origin | undefined, found: RegExpExecArray) => ImportFailure

const explanations: [RegExp, Explanation][] = [
  [/Authentication failed|could not read (Username|Password)|terminal prompts disabled/, refused],
  [
    /(?:object|in (?:tree|blob|commit|tag)) ([0-9a-f]{40}): (\w+): (.*)/,
    (_, [, id, fault, words]) =>
      new ImportFailure(
        `The history has an object that is refused because it may do harm when it is checked out: ${id}, ${words} (${fault}). Remove it from the history at the source, then import again.`,
      ),
  ],
  [/mismatched algorithms|unknown object format|unsupported object-format/, otherIds],
  [
    /shallow/,
    () => new ImportFailure('The source has only the later part of its history (it is a shallow copy): import the whole one.'),
  ],
  [
    /repository '.*' not found|returned error: (404|410)/,
    () => new ImportFailure('There is no repository at the address any more. Check it, then start again.'),
  ],
  [/returned error: 30\d/, () => new ImportFailure('The source has moved to another address. Give that one, then start again.')],
  [
    /No space left on device|file size limit/i,
    () => new ImportFailure('There is not enough space for this repository. Ask whoever runs this server.'),
  ],
  [/certificate|SSL/, () => new ImportFailure(untrusted)],
  // The status with which our proxy refuses an address.
  [
    /(returned error:|response|HTTP code) 421/,
    () => new ImportFailure('This server may not connect there. Ask whoever runs it.'),
  ],
  [/transport '.*' not allowed/, () => new ImportFailure('The address must begin with http:// or https://.')],
  [
    /early EOF|RPC failed|hung up|Could not resolve|Failed to connect|timed out|Operation too slow|transfer closed|Empty reply|(returned error:|response|HTTP code) 50[24]/i,
    () => new ImportFailure('The connection to the source broke off. Start again when it can be reached.'),
  ],
  [
    /returned error: (\d{3})/,
    (_, [, status]) => new ImportFailure(`The source refused with status ${status}. Ask whoever runs it, or start again later.`),
  ],
]

export function otherIds() {
  return new ImportFailure('The source is a repository of SHA-256 objects; only SHA-1 is supported.')
}

export function refused(origin: Origin | undefined) {
  const words =
    origin?.username || origin?.password
      ? 'The source does not accept the user name and password.'
      : 'The source asks for a password.'
  return new ImportFailure(words, 'auth')
}

/** Git's own words are for whoever reads the log; these are for whoever wants the repository. */
export function explain(error: unknown, origin?: Origin): unknown {
  if (!(error instanceof Error) || error instanceof ImportFailure) return error
  // What the address and the server say is theirs to choose.
  const said = error.message.replaceAll(origin?.url ?? '\0', '').replaceAll(/^remote:.*$/gm, '')
  for (const [words, explanation] of explanations) {
    const found = words.exec(said)
    if (found) return explanation(origin, found)
  }
  const [, fatal] = /(?:fatal|error): (.{1,300})/.exec(said) ?? []
  return fatal ? new ImportFailure(`git could not read the source: ${fatal}`) : error
}
