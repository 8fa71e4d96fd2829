import { findLicense, type License } from '#hosting/contents/licenses.ts'
import { NullableString, type Wire } from '#http/serialization.ts'
import { type Static, Type } from '#platform/schema.ts'
import { licenses } from './licenses.ts'

/** A license that has no template has no address. */
export const SimpleLicense = Type.Object(
  { key: Type.String(), name: Type.String(), spdx_id: Type.String(), url: NullableString, node_id: Type.String() },
  { title: 'SimpleLicense' },
)

export const NullableLicense = Type.Unsafe<Static<typeof SimpleLicense> | null>({
  ...SimpleLicense,
  title: 'NullableLicense',
  nullable: true,
})

export const licenseJson = ({ key, name, spdx_id }: License, { api }: Wire): Static<typeof SimpleLicense> => ({
  key,
  name,
  spdx_id,
  url: templates.has(key) ? `${api}/licenses/${key}` : null,
  node_id: Buffer.from(`07:License${key}`).toString('base64'),
})

const templates = new Set(licenses.map(({ key }) => key))

/** The license of a repository by its key. */
export function repositoryLicenseJson(key: string | null, wire: Wire): Static<typeof NullableLicense> {
  const license = key === null ? undefined : findLicense(key)
  return license ? licenseJson(license, wire) : null
}
