import { untrusted } from '#importer/probe-http.ts'
import { ImportFailure, type Origin, outOfSpace } from '#importer/source.ts'
import { faultyObject, refuseObject } from '#importer/staging/check-packs.ts'
import { diskFullMessage } from '#platform/disk-full.ts'

type Explanation = (origin: Origin | undefined, found: RegExpExecArray) => ImportFailure

const explanations: [RegExp, string | Explanation][] = [
  [/Authentication failed|could not read (Username|Password)|terminal prompts disabled/, authFailure],
  [faultyObject, (_, [, id = '', fault = '', text = '']) => refuseObject(id, fault, text)],
  [/mismatched algorithms|unknown object format|unsupported object-format/, sha256Unsupported],
  [/shallow/, 'The source is a shallow clone with only a part of its history. Import a complete repository.'],
  [
    /repository '[^']*' not found|returned error: (404|410)/,
    'There is no longer a repository at this address. Check the address, then restart the import.',
  ],
  [/returned error: 30\d/, 'The source has moved to another address. Start an import from that address.'],
  [diskFullMessage, outOfSpace],
  [/certificate|SSL/, untrusted],
  // The status with which our proxy refuses an address.
  [/(returned error:|response|HTTP code) 421/, 'This server may not connect there. Ask an administrator of this server.'],
  [/transport '[^']*' not allowed/, 'The address must begin with http:// or https://.'],
  [
    /early EOF|RPC failed|hung up|Could not resolve|Failed to connect|timed out|Operation too slow|transfer closed|Empty reply|(returned error:|response|HTTP code) 50[24]/i,
    'The connection to the source was lost. Restart the import when the source is reachable.',
  ],
  [
    /returned error: (\d{3})/,
    (_, [, status]) =>
      new ImportFailure(`The source answered with status ${status}. Ask its administrator, or restart the import later.`),
  ],
]

export function sha256Unsupported() {
  return new ImportFailure('The source uses SHA-256 objects; only SHA-1 is supported.')
}

export function authFailure(origin: Origin | undefined) {
  const text =
    origin?.username || origin?.password
      ? 'The source does not accept the user name and password.'
      : 'The source asks for a password.'
  return new ImportFailure(text, 'auth')
}

/** Turns git's error output into a message for the user. */
export function explain(error: unknown, origin?: Origin): unknown {
  if (!(error instanceof Error) || error instanceof ImportFailure) return error
  // The address and the lines of the server could contain anything.
  const output = error.message.replaceAll(origin?.url ?? '\0', '').replaceAll(/^remote:.*$/gm, '')
  for (const [text, explanation] of explanations) {
    const found = text.exec(output)
    if (found) return typeof explanation === 'string' ? new ImportFailure(explanation) : explanation(origin, found)
  }
  const [, fatal] = /(?:fatal|error): (.{1,300})/.exec(output) ?? []
  return fatal ? new ImportFailure(`git could not read the source: ${fatal}`) : error
}
