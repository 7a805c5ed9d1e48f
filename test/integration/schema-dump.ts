/** The schema as Postgres itself tells it, in a form that does not depend on the server's version or on who asks. */
import { superuser } from './journal-setting.js';

const SECTIONS: readonly (readonly [title: string, sql: string])[] = [
  [
    'tables',
    `select format(E'%s\\n%s', c.relname, string_agg(format('  %s %s%s%s', a.attname,
         format_type(a.atttypid, a.atttypmod)
           || case when a.attcollation <> 0 and a.attcollation <> 'pg_catalog."default"'::regcollation
              then ' collate ' || a.attcollation::regcollation::text else '' end,
         case when a.attnotnull then ' not null' else '' end,
         coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')), E'\\n' order by a.attnum))
       || coalesce(E'\\n  with ' || array_to_string(c.reloptions, ', '), '') as line
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
     where c.relnamespace = 'holdfast'::regnamespace and c.relkind = 'r' group by c.oid, c.relname, c.reloptions order by c.relname`,
  ],
  [
    'constraints',
    `select format('%s: %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as line from pg_constraint
     where connamespace = 'holdfast'::regnamespace and contype <> 'n' order by conrelid::regclass::text, conname`,
  ],
  [
    'indexes',
    `select pg_get_indexdef(i.indexrelid) as line from pg_index i join pg_class c on c.oid = i.indrelid
     where c.relnamespace = 'holdfast'::regnamespace order by i.indexrelid::regclass::text`,
  ],
  [
    'triggers',
    `select format('%s (enabled: %s)', pg_get_triggerdef(t.oid), t.tgenabled) as line
     from pg_trigger t join pg_class c on c.oid = t.tgrelid
     where c.relnamespace = 'holdfast'::regnamespace and not t.tgisinternal order by t.tgname`,
  ],
  [
    'views',
    `select format(E'%s\\n%s', c.relname, pg_get_viewdef(c.oid)) as line from pg_class c
     where c.relnamespace = 'holdfast'::regnamespace and c.relkind = 'v' order by c.relname`,
  ],
  [
    'functions',
    `select pg_get_functiondef(p.oid) as line from pg_proc p
     where p.pronamespace = 'holdfast'::regnamespace order by p.proname`,
  ],
  [
    'rights of holdfast_writer',
    `select format('%s: %s', c.relname, string_agg(lower(g.privilege_type), ', ' order by g.privilege_type)) as line
     from pg_class c cross join lateral aclexplode(c.relacl) g
     where c.relnamespace = 'holdfast'::regnamespace and g.grantee = 'holdfast_writer'::regrole
     group by c.relname order by c.relname`,
  ],
];

/** The whole schema `holdfast`, as text. */
export const dumpSchema = async (url: string): Promise<string> => {
  const parts = ['-- Made from a migrated database; the test that compares it says how to renew it.'];
  for (const [title, sql] of SECTIONS) {
    const rows = await superuser(url, `set search_path = holdfast; ${sql}`);
    parts.push(`\n-- ${title}\n`, ...rows.map((row) => String(row['line']).replaceAll(/[ \t]+$/gm, '')));
  }
  return `${parts.join('\n')}\n`;
};
