const iso8601 = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?)?$/i

/** A moment that somebody wrote, in ISO 8601; without a zone it is of UTC. */
export function readMoment(text: string): Date | undefined {
  const [, day = '', time = '00:00', zone = 'Z'] = iso8601.exec(text) ?? []
  const moment = new Date(`${day}T${time}${zone}`)
  // A thirtieth of February would be taken for the second of March.
  if (Number.isNaN(moment.getTime()) || !new Date(`${day}T00:00Z`).toISOString().startsWith(day)) return undefined
  return moment
}
