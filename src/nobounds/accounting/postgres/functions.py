"""What the server runs: the tables of budgets, and functions that charge and read them with the rights of their owner.

An analyst's role has no right on the tables. `nobounds.charge` locks the budget, adds up its charges exactly, refuses
what does not fit in the budget or in the share of the role that has logged in, and writes the charge with its seal.
"""

SCHEMA = "nobounds"
VERSION = 1

EXCEEDED, NO_SHARE, OTHER_UNIT, NOT_COVERED, NO_BUDGET, WRONG = "NB001", "NB002", "NB003", "NB004", "NB005", "NB006"
NOT_OURS = "NB007"
"""The states of errors that the functions raise."""

# Limits are exact fractions: an epsilon and a delta that the sums keep within, or a rho. Null where a rule is not.
_LIMITS = ", ".join(f"{name}_{part} numeric" for name in ("epsilon", "delta", "rho") for part in ("over", "under"))

_FITS = """
create or replace function nobounds.fits(l nobounds.limits, epsilon numeric, delta numeric, rho numeric)
returns boolean language sql immutable set search_path = pg_catalog, pg_temp as $$
    select coalesce(epsilon * l.epsilon_under <= l.epsilon_over and delta * l.delta_under <= l.delta_over, false)
        or coalesce(rho * l.rho_under <= l.rho_over, false)
$$
"""

_SEAL = """
create or replace function nobounds.seal(variadic parts text[])
returns text language sql immutable set search_path = pg_catalog, pg_temp as $$
    select encode(sha256(convert_to(
        string_agg(coalesce(length(part) || ':' || part, '-'), ',' order by place), 'UTF8'
    )), 'hex') from unnest(parts) with ordinality as given(part, place)
$$
"""

_CHARGE = """
create or replace function nobounds.charge(
    budget text, what text, epsilon text, rho text, eta text, delta text, neighbors text, unit text,
    label text, note text, author text
) returns bigint language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    terms nobounds.budgets;
    first nobounds.charges;
    last nobounds.charges;
    share nobounds.limits;
    sums record;
    own record;
    numbers numeric[];
    each text;
    place bigint;
    now_made text;
begin
    perform set_config('synchronous_commit', 'on', true);
    foreach each in array array[epsilon, rho, eta, delta] loop
        if each is null or each !~ '^([0-9]+([.][0-9]+)?(e[+-]?[0-9]+)?|inf)$' then  -- as this library writes them
            raise exception 'a loss must be of decimal numbers' using errcode = 'NB006';
        end if;
    end loop;
    numbers := array[epsilon::numeric, rho::numeric, eta::numeric, delta::numeric];
    if array_position(numbers, null) is not null or 'NaN' = any(numbers) or 0 > any(numbers) or numbers[4] >= 1
        or least(numbers[1], numbers[2]) = 'Infinity' or what is null or neighbors not in ('add-remove', 'swap')
        or neighbors is null or unit is null or unit = '' then
        raise exception 'a loss must be nonnegative, with a finite epsilon or rho and a delta below 1'
            using errcode = 'NB006';
    end if;
    foreach each in array array[what, epsilon, rho, eta, delta, unit, label, note, author] loop
        if length(each) > 500 then
            raise exception 'texts have at most 500 characters' using errcode = 'NB006';
        end if;
    end loop;
    select * into terms from nobounds.budgets b where b.name = charge.budget for update;
    if not found then
        raise exception 'there is no such budget' using errcode = 'NB005';
    end if;
    select * into first from nobounds.charges c where c.budget = terms.name order by number limit 1;
    select * into last from nobounds.charges c where c.budget = terms.name order by number desc limit 1;
    if coalesce(terms.neighbors, first.neighbors, charge.neighbors) <> charge.neighbors
        or coalesce(terms.unit, first.unit, charge.unit) <> charge.unit then
        raise exception 'the budget is for other neighbours or another unit' using errcode = 'NB003';
    end if;
    if session_user <> terms.owner then  -- a role does not decide what the budget is for
        if terms.neighbors is null or terms.unit is null then
            raise exception 'shares are for a budget whose neighbors and unit are stated: its owner makes one'
                using errcode = 'NB003';
        end if;
        if numbers[2] = 0 or numbers[1] = 0 and numbers[4] = 0 then
            raise exception 'a loss of 0 is not charged to a share' using errcode = 'NB006';
        end if;
    end if;
    if label is not null and (session_user <> terms.owner or exists (
            select from nobounds.labels l where l.budget = terms.name
            union all select from nobounds.charges c where c.budget = terms.name and c.label is not null
        )) and not exists (
            select from nobounds.labels l where l.budget = terms.name and l.label = charge.label
            union all select from nobounds.charges c where c.budget = terms.name and c.label = charge.label
        ) then
        raise exception 'the budget does not cover data of this name: its owner can allow it' using errcode = 'NB004';
    end if;
    select coalesce(sum(c.epsilon::numeric), 0) + numbers[1] as epsilon,
        coalesce(sum(c.delta::numeric), 0) + numbers[4] as delta, coalesce(sum(c.rho::numeric), 0) + numbers[2] as rho
        into sums from nobounds.charges c where c.budget = terms.name;
    if not nobounds.fits(terms.limits, sums.epsilon, sums.delta, sums.rho) then
        raise exception 'budget exceeded' using errcode = 'NB001';
    end if;
    if session_user <> terms.owner then
        select (s.limits).* into share from nobounds.shares s where s.budget = terms.name and s.role = session_user;
        select coalesce(sum(c.epsilon::numeric), 0) + numbers[1] as epsilon,
            coalesce(sum(c.delta::numeric), 0) + numbers[4] as delta,
            coalesce(sum(c.rho::numeric), 0) + numbers[2] as rho
            into own from nobounds.charges c where c.budget = terms.name and c.role = session_user;
        if share is null or not nobounds.fits(share, own.epsilon, own.delta, own.rho) then
            raise exception 'the share of this role does not cover it' using errcode = 'NB002';
        end if;
    end if;
    place := coalesce(last.number, 0) + 1;
    now_made := to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"');
    insert into nobounds.charges values (
        terms.name, place, now_made, what, epsilon, rho, eta, delta, neighbors, unit, label, note, author, session_user,
        nobounds.seal(coalesce(last.seal, terms.seal), place::text, now_made, what, epsilon, rho, eta, delta, neighbors,
            unit, label, note, author, session_user)
    );
    return place;
end $$
"""

_READ = """
create or replace function nobounds.terms(budget text)
returns table (ledger text, epsilon text, delta text, rho text, neighbors text, unit text, seal text)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select b.ledger, b.epsilon, b.delta, b.rho, b.neighbors, b.unit, b.seal from nobounds.budgets b
    where b.name = terms.budget and (session_user = b.owner
        or exists (select from nobounds.shares s where s.budget = b.name and s.role = session_user))
$$;
create or replace function nobounds.charges_of(budget text, start bigint)
returns table (number bigint, made text, what text, epsilon text, rho text, eta text, delta text, neighbors text,
    unit text, label text, note text, author text, role text, seal text)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select c.number, c.made, c.what, c.epsilon, c.rho, c.eta, c.delta, c.neighbors, c.unit, c.label, c.note, c.author,
        c.role, c.seal
    from nobounds.charges c where c.budget = charges_of.budget and c.number >= start
        and exists (select from nobounds.terms(charges_of.budget)) order by c.number
$$;
create or replace function nobounds.labels_of(budget text)
returns table (number bigint, made text, label text, seal text)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select l.number, l.made, l.label, l.seal from nobounds.labels l
    where l.budget = labels_of.budget and exists (select from nobounds.terms(labels_of.budget)) order by l.number
$$
"""

INSTALL = f"""
create schema if not exists nobounds;
do $$ begin  -- its owner could drop what is in it, and what is in it runs with the rights of the role that charges
    if exists (
        select from (
            select nspowner from pg_namespace where nspname = 'nobounds'
            union all select relowner from pg_class where relnamespace = 'nobounds'::regnamespace
            union all select typowner from pg_type where typnamespace = 'nobounds'::regnamespace
            union all select proowner from pg_proc where pronamespace = 'nobounds'::regnamespace
        ) as o (owner) where pg_get_userbyid(owner) <> current_user
    ) then
        raise exception 'the schema nobounds belongs to another role: install as that role, or rename its schema'
            using errcode = 'NB007';
    end if;
end $$;
revoke all on schema nobounds from public;
do $$ begin
    if to_regtype('nobounds.limits') is null then
        create type nobounds.limits as ({_LIMITS});
    end if;
end $$;
create table if not exists nobounds.budgets (
    name text primary key, ledger text, epsilon text, delta text, rho text, neighbors text, unit text, seal text,
    limits nobounds.limits, owner text);
create table if not exists nobounds.charges (
    budget text references nobounds.budgets, number bigint, made text, what text, epsilon text, rho text, eta text,
    delta text, neighbors text, unit text, label text, note text, author text, role text, seal text,
    primary key (budget, number));
create table if not exists nobounds.labels (
    budget text references nobounds.budgets, number bigint, made text, label text, seal text,
    primary key (budget, number));
create table if not exists nobounds.shares (
    budget text references nobounds.budgets, role text, limits nobounds.limits, primary key (budget, role));
revoke all on all tables in schema nobounds from public;
{_FITS};
{_SEAL};
{_CHARGE};
{_READ};
revoke all on all functions in schema nobounds from public
"""

GRANT = """
grant usage on schema nobounds to {role};
grant execute on function nobounds.charge, nobounds.terms, nobounds.charges_of, nobounds.labels_of to {role}
"""
