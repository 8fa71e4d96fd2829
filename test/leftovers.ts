/** Every table with a column for a repository that has rows of one of these, as `table id`. Deliveries are kept for some days. */
export async function findLeftovers(query: (text: string) => Promise<Record<string, unknown>[]>, repo_ids: number[]) {
  const columns = await query(`
    select c.table_name as name, c.column_name as column from information_schema.columns c join information_schema.tables t
      using (table_schema, table_name)
    where table_schema = 'public' and t.table_type = 'BASE TABLE' and c.column_name in ('repo_id', 'head_repo_id')
      and table_name !~ '^(deliveries|payloads)'
    order by 1, 2`)
  const found: string[] = []
  for (const { name, column } of columns) {
    const rows = await query(
      `select distinct "${column}" as id from "${name}" where "${column}" = any('{${repo_ids}}') order by 1`,
    )
    found.push(...rows.map(({ id }) => `${name} ${id}`))
  }
  return found
}
