import { type AppPermissions, permissionNames } from '#identity/permissions.ts'
import { field, select, typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'

const levels: [string, string][] = [
  ['', 'No access'],
  ['read', 'Read'],
  ['write', 'Read and write'],
]
const admin: [string, string] = ['admin', 'Administer']
const offered = [...permissionNames.repository.filter((name) => name !== 'metadata'), 'members']
const prefix = 'permission_'

/** The events and permissions of an app. Permissions that it has already are shown too, although no endpoint needs them. */
export function accessFields(given: URLSearchParams, held: AppPermissions = {}): Html {
  const { metadata, ...others } = held
  const names = [...new Set([...offered, ...Object.keys(others)])]
  const choices = names.map((name) =>
    select(name, `${prefix}${name}`, others[name] === 'admin' ? [...levels, admin] : levels, given.get(`${prefix}${name}`) ?? ''),
  )
  return html`${field({ label: 'Events', name: 'events', value: given.get('events'), longest: 2000, hint: 'Separated by spaces, such as: issues pull_request push' })}
<fieldset><legend>Permissions</legend>${choices}</fieldset>`
}

/** The access of an app as the fields of a form. */
export function accessAsForm({ permissions, events }: { permissions: AppPermissions; events: string[] }): URLSearchParams {
  const levels = Object.entries(permissions).map(([name, level]): [string, string] => [`${prefix}${name}`, level])
  return new URLSearchParams([['events', events.join(' ')], ...levels])
}

/** Whether a permission exists is checked when the access is stored. */
export function readAccess(given: URLSearchParams) {
  const asked = [...given.keys()].filter((name) => name.startsWith(prefix) && typed(given, name))
  return {
    permissions: Object.fromEntries(asked.map((name) => [name.slice(prefix.length), typed(given, name)])),
    events: typed(given, 'events')
      .split(/[\s,]+/)
      .filter(Boolean)
      .slice(0, 100),
  }
}
