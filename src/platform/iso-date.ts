const iso8601 = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?)?$/i

/** Parses a date, with or without a time, in ISO 8601. UTC is the default time zone. */
export function parseIsoDate(text: string): Date | undefined {
  const [, day = '', time = '00:00', zone = 'Z'] = iso8601.exec(text) ?? []
  const date = new Date(`${day}T${time}${zone}`)
  // Date would read February 30 as March 2.
  if (Number.isNaN(date.getTime()) || !new Date(`${day}T00:00Z`).toISOString().startsWith(day)) return undefined
  return date
}
