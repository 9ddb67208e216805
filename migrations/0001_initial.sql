-- The catalog of OKF bundles. SQLite 3.40 features only: Datasette may open the
-- file with another SQLite than the one that wrote it.

create table meta (
  key text primary key,
  value text not null
) strict, without rowid;

create table bundles (
  name text primary key,
  title text,
  okf_version text,
  concept_count integer not null default 0,
  parse_error_count integer not null default 0,
  reserved_count integer not null default 0,
  created_at text not null,
  last_sync_id integer,
  last_synced_at text,
  extraction_version integer
) strict;

-- Absolute paths stay out of `bundles`, so that a published catalog does not show them.
create table bundle_roots (
  bundle text primary key references bundles (name) on update cascade on delete cascade,
  root text not null unique,
  include_hidden integer not null default 0
) strict;

-- autoincrement: an id is never given to another concept, so it can be kept outside.
create table concepts (
  id integer primary key autoincrement,
  bundle text not null references bundles (name) on update cascade on delete cascade,
  path text not null,
  concept_id text not null,
  dir text not null,
  top_dir text not null,
  stem text not null,
  type text,
  title text,
  description text,
  tags text not null default '[]' check (json_valid(tags)),
  status text,
  effective_status text not null,
  trust_tier text not null,
  trust_current text not null,
  verified_at text,
  generated_by text,
  generated_at text,
  generated_at_utc text,
  stale_after text,
  stale_after_utc text,
  resource text,
  runtime text,
  source_count integer not null default 0,
  frontmatter text not null check (json_valid(frontmatter)),
  content_hash text not null,
  size integer not null,
  unique (bundle, path)
) strict;
create index concepts_type on concepts (type, bundle);
create index concepts_effective_status on concepts (effective_status, bundle);
create index concepts_trust_tier on concepts (trust_tier, bundle);
create index concepts_stale_after on concepts (stale_after_utc) where stale_after_utc is not null;

create table bodies (
  concept_id integer primary key references concepts (id) on delete cascade,
  body text not null
) strict;

create table tags (
  concept_id integer not null references concepts (id) on delete cascade,
  position integer not null,
  tag text not null,
  folded text not null,
  primary key (concept_id, position)
) strict, without rowid;
create index tags_folded on tags (folded, tag);

create table sources (
  concept_id integer not null references concepts (id) on delete cascade,
  position integer not null,
  source_id text,
  resource text,
  title text,
  author text,
  usage_count integer,
  last_modified text,
  last_modified_utc text,
  window_from text,
  window_to text,
  legacy integer not null default 0,
  primary key (concept_id, position)
) strict, without rowid;

create table verifications (
  concept_id integer not null references concepts (id) on delete cascade,
  position integer not null,
  by text,
  actor_kind text not null,
  at text,
  at_utc text,
  is_current integer not null,
  primary key (concept_id, position)
) strict, without rowid;

-- target_id has no foreign key: the sync keeps it, and a bulk load should not pay
-- a look-up for each link.
create table links (
  concept_id integer not null references concepts (id) on delete cascade,
  position integer not null,
  kind text not null,
  target text not null,
  target_path text,
  target_id integer,
  text text,
  line integer,
  primary key (concept_id, position)
) strict, without rowid;
create index links_target_id on links (target_id) where target_id is not null;
-- The few that are no edges of the graph, so that links_target_id can be read as its edges.
create index links_beside_graph on links (concept_id, target_id)
  where kind not in ('link', 'reference', 'source', 'superseded_by');
create index links_unresolved on links (target_path) where target_id is null and target_path is not null;

-- Links written in files that are no concepts: index.md, log.md, unusable files.
create table file_links (
  bundle text not null references bundles (name) on update cascade on delete cascade,
  path text not null,
  position integer not null,
  kind text not null,
  target text not null,
  target_path text,
  line integer,
  primary key (bundle, path, position)
) strict, without rowid;

create table footnotes (
  concept_id integer not null references concepts (id) on delete cascade,
  label text not null,
  source_position integer,
  is_defined integer not null,
  line integer,
  primary key (concept_id, label)
) strict, without rowid;

create table computations (
  concept_id integer primary key references concepts (id) on delete cascade,
  runtime text,
  computation text,
  code text,
  language text,
  parameters text check (parameters is null or json_valid(parameters)),
  executor text,
  executor_receipt text check (executor_receipt is null or json_valid(executor_receipt)),
  attester text
) strict;

create table extra_keys (
  concept_id integer not null references concepts (id) on delete cascade,
  key text not null,
  value text not null check (json_valid(value)),
  primary key (concept_id, key)
) strict, without rowid;

create table parse_errors (
  bundle text not null references bundles (name) on update cascade on delete cascade,
  path text not null,
  code text not null,
  message text not null,
  advice text not null,
  line integer,
  "column" integer,
  excerpt text,
  first_seen text not null,
  last_seen text not null,
  text text,
  content_hash text,
  concept_id integer,
  primary key (bundle, path)
) strict;

create table problems (
  id integer primary key,
  bundle text not null references bundles (name) on update cascade on delete cascade,
  path text not null,
  concept_id integer references concepts (id) on delete cascade,
  level text not null,
  check_id text not null,
  source text not null,
  message text not null,
  line integer
) strict;
create index problems_path on problems (bundle, path);
create index problems_check on problems (check_id);
create index problems_concept on problems (concept_id) where concept_id is not null;

create table reserved_files (
  bundle text not null references bundles (name) on update cascade on delete cascade,
  path text not null,
  kind text not null check (kind in ('index', 'log', 'other')),
  text text not null,
  content_hash text not null,
  primary key (bundle, path)
) strict;

-- One signature blob a directory: the names and stamps of its files (see catalog/signature.py).
create table directories (
  bundle text not null references bundles (name) on update cascade on delete cascade,
  dir text not null,
  signature blob not null,
  primary key (bundle, dir)
) strict, without rowid;

-- Every file that was read is a row of exactly one of three tables. A broken file keeps
-- the id of the concept that it was, and becomes that concept again when it is repaired.
create view files as
select bundle, path, 'concept' as kind, content_hash, id as concept_id from concepts
union all
select bundle, path, 'error', content_hash, concept_id from parse_errors
union all
select bundle, path, kind, content_hash, null from reserved_files;

create table sync_runs (
  id integer primary key autoincrement,
  bundle text not null references bundles (name) on update cascade on delete cascade,
  started_at text not null,
  finished_at text not null,
  added integer not null,
  changed integer not null,
  moved integer not null,
  removed integer not null,
  unchanged integer not null,
  failed integer not null,
  skipped_hidden integer not null,
  skipped_ignored integer not null
) strict;

create table changes (
  id integer primary key,
  sync_id integer not null references sync_runs (id) on delete cascade,
  bundle text not null references bundles (name) on update cascade on delete cascade,
  path text not null,
  kind text not null,
  field text,
  old text,
  new text
) strict;
create index changes_path on changes (bundle, path);
create index changes_sync on changes (sync_id);

-- The seven searched fields: NFC, case-folded, white space as single spaces, NUL as U+FFFD.
create table search_text (
  concept_id integer primary key references concepts (id) on delete cascade,
  title text not null,
  id text not null,
  tags text not null,
  type text not null,
  description text not null,
  sources text not null,
  body text not null
) strict;

-- No triggers: the writer inserts and deletes index rows itself (half the cost, and a
-- replaced row can never leave its words behind).
create virtual table concepts_fts using fts5 (
  title, id, tags, type, description, sources, body,
  content='search_text', content_rowid='concept_id',
  tokenize='unicode61 remove_diacritics 0'
);
create virtual table concepts_fts_terms using fts5vocab ('concepts_fts', 'row');

-- The vocabulary, and trigrams over it: substring, pattern and fuzzy search start here.
create table terms (
  id integer primary key,
  term text not null unique
) strict;
-- FTS5 cuts words off at 32,768 bytes; a search has to know whether there are such words.
create index terms_long on terms (id) where length(cast(term as blob)) >= 32000;
create virtual table terms_trigram using fts5 (
  term, content='terms', content_rowid='id', tokenize='trigram', detail='none', columnsize=0
);

-- The casts give these columns a type, so that `is_stale = '1'` (as an address on the web says it) finds rows.
create view catalog as
select
  c.bundle,
  c.path,
  coalesce(c.title, c.stem) as title,
  c.type,
  c.effective_status,
  c.trust_tier,
  c.trust_current,
  cast(c.stale_after_utc is not null
    and c.stale_after_utc <= strftime('%Y-%m-%dT%H:%M:%SZ', 'now') as integer) as is_stale,
  c.tags,
  c.description,
  c.stale_after,
  c.stale_after_utc,
  c.generated_by,
  c.generated_at,
  c.verified_at,
  c.source_count as sources,
  cast((select count(*) from links l where l.concept_id = c.id and l.target_id is not null) as integer) as links_out,
  cast((select count(*) from links l where l.target_id = c.id) as integer) as links_in,
  c.resource,
  c.runtime,
  c.concept_id,
  c.dir,
  c.top_dir,
  c.id
from concepts c;

insert into meta (key, value) values ('schema_version', '1');
