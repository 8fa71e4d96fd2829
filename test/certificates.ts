import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const certificates = join(import.meta.dirname, 'certificates')
export const certificateFile = (name: string) => join(certificates, `${name}.pem`)

/** A certificate of test/certificates. All have the same key. */
export function certificateOf(name: string) {
  return { key: readFileSync(join(certificates, 'localhost.key'), 'utf8'), cert: readFileSync(certificateFile(name), 'utf8') }
}
