import { invalid } from '#platform/errors.ts'
import { hasStrayCharacters } from '#platform/web-address.ts'

/** Any text, as in the public API, but no characters that programs which open it would drop. */
export function checkHomepage(homepage: string | null | undefined) {
  if (!homepage || !hasStrayCharacters(homepage)) return
  const message = 'homepage must not have control characters, or spaces at its ends'
  throw invalid({ resource: 'Repository', code: 'invalid', field: 'homepage', message })
}
