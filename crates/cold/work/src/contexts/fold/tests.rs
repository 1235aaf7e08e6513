use super::*;
use crate::contexts::Handoff;
use proptest::prelude::*;

fn session(id: &str) -> SessionId {
    SessionId { platform: "claude-code".to_owned(), id: id.to_owned() }
}

fn seen(at: i64, by: &str, what: What) -> Seen {
    let id = format!("n:{at}");
    Seen { at, session: session(by), id, prompt_id: None, project: 1, what }
}

fn with_prompt(prompt: &str, seen: Seen) -> Seen {
    Seen { prompt_id: Some(prompt.to_owned()), ..seen }
}

fn work(at: i64, by: &str, context: &str, action: Action) -> Seen {
    seen(at, by, What::Work(Box::new(Work { context: context.to_owned(), action, git: None })))
}

fn new(at: i64, by: &str, context: &str, permission_mode: Option<&str>) -> Seen {
    let permission_mode = permission_mode.map(str::to_owned);
    let summary = format!("about {context}");
    let method = "auto-created".to_owned();
    work(at, by, context, Action::New { summary, tags: Vec::new(), method, bind: true, permission_mode })
}

fn bind(at: i64, by: &str, context: &str) -> Seen {
    work(at, by, context, Action::Bind { via: "caret".to_owned(), permission_mode: None })
}

fn prompt(at: i64, by: &str, mode: &str) -> Seen {
    seen(at, by, What::Prompt { permission_mode: Some(mode.to_owned()), branch: Some("main".to_owned()) })
}

fn plan(at: i64, by: &str, text: &str) -> Seen {
    seen(at, by, What::Plan(Marks::of(text)))
}

fn end(at: i64, by: &str, reason: &str) -> Seen {
    seen(at, by, What::End { reason: Some(reason.to_owned()) })
}

fn start(at: i64, by: &str, source: &str) -> Seen {
    seen(at, by, What::Start { source: Some(source.to_owned()) })
}

/// Returns the modes of a context after each of these.
fn modes(seen: &[Seen]) -> Vec<&'static str> {
    (1..=seen.len())
        .map(|most| fold(&seen[..most]).get("c").map_or("-", |context| context.mode.name()))
        .collect()
}

#[test]
fn a_prompt_activates_and_plan_mode_never_does() {
    assert_eq!(modes(&[new(1, "s", "c", Some("default"))]), ["active"]);
    let seen = [
        new(1, "s", "c", Some("plan")),
        prompt(2, "s", "plan"),
        plan(3, "s", "# A plan\n## Steps"),
        self::seen(4, "s", What::Accepted),
        self::seen(5, "s", What::Changed),
    ];
    assert_eq!(modes(&seen), ["idle", "idle", "idle", "idle", "active"]);
    // `/clear` keeps the permission mode, and tells nothing of it.
    let cleared = [
        new(1, "s", "c", Some("plan")),
        with_prompt("q", end(2, "s", "clear")),
        with_prompt("q", start(3, "t", "clear")),
        prompt(4, "t", "plan"),
        prompt(5, "t", "default"),
    ];
    assert_eq!(modes(&cleared), ["idle", "idle", "idle", "idle", "active"]);
}

#[test]
fn an_accepted_plan_is_staged_when_its_session_ends_and_taken_up_by_the_next() {
    let seen = [
        new(1, "s", "c", Some("plan")),
        plan(2, "s", "# A plan"),
        self::seen(3, "s", What::Accepted),
        end(4, "s", "prompt_input_exit"),
        bind(5, "t", "c"),
        end(6, "t", "prompt_input_exit"),
    ];
    assert_eq!(modes(&seen), ["idle", "idle", "idle", "has_plan", "active", "active"]);
}

#[test]
fn line_9_work_consumed_by_any_path_is_not_staged_again() {
    let accepted = |at: i64, by: &str| [plan(at, by, "# A plan"), self::seen(at + 1, by, What::Accepted)];
    let first =
        [vec![new(1, "s", "c", None)], accepted(2, "s").to_vec(), vec![end(4, "s", "other")]].concat();
    let select = vec![bind(5, "t", "c")];
    let clear = vec![with_prompt("q", end(5, "s", "clear")), with_prompt("q", start(6, "t", "clear"))];
    let tool = vec![
        work(
            5,
            "t",
            "c",
            Action::Bind { via: "command".to_owned(), permission_mode: Some("plan".to_owned()) },
        ),
        self::seen(6, "t", What::Changed),
    ];
    for path in [select, clear, tool] {
        let mut all = [first.clone(), path].concat();
        all.push(end(8, "t", "other"));
        assert_eq!(fold(&all)["c"].mode, Mode::Active, "{all:?}");
        // The same plan, accepted again, was taken up already.
        all.extend(accepted(9, "t"));
        all.push(end(12, "t", "other"));
        assert_eq!(fold(&all)["c"].mode, Mode::Active, "{all:?}");
    }
}

#[test]
fn line_9_a_plan_that_was_taken_up_once_does_not_wait_in_the_place_of_another() {
    let accepted = |at: i64, by: &str, text: &str| [plan(at, by, text), seen(at + 1, by, What::Accepted)];
    let mut all = vec![new(1, "s", "c", None)];
    all.extend(accepted(2, "s", "# First plan"));
    all.extend([end(4, "s", "other"), bind(5, "t", "c")]);
    all.extend(accepted(6, "t", "# Second plan"));
    all.extend([with_prompt("q", end(8, "t", "resume")), with_prompt("q", start(9, "u", "resume"))]);
    assert_eq!(fold(&all)["c"].mode, Mode::HasPlan);
    // Nothing has begun yet: this session plans.
    all.extend(accepted(10, "u", "# First plan"));
    let context = &fold(&all)["c"];
    assert_eq!((context.mode, context.staged_at), (Mode::Active, None), "{context:?}");
}

#[test]
fn line_10_a_second_accepted_plan_is_staged_and_a_rejected_one_never_is() {
    let mut seen = vec![
        new(1, "s", "c", None),
        plan(2, "s", "# First plan"),
        self::seen(3, "s", What::Accepted),
        end(4, "s", "other"),
        bind(5, "t", "c"),
        plan(6, "t", "# Rejected plan"),
        prompt(7, "t", "plan"),
        end(8, "t", "other"),
    ];
    assert_eq!(fold(&seen)["c"].mode, Mode::Active);
    seen.extend([bind(9, "u", "c"), plan(10, "u", "# Second plan"), self::seen(11, "u", What::Accepted)]);
    seen.push(end(12, "u", "other"));
    let context = &fold(&seen)["c"];
    assert_eq!(context.mode, Mode::HasPlan);
    assert_eq!(context.artifact.as_ref().unwrap().digest, super::super::plan::digest("# Second plan"));
}

#[test]
fn a_plan_is_accepted_as_the_user_changed_it_and_not_after_they_refused_it() {
    let changed = Marks::of("# A plan, shorter");
    let mut seen = vec![
        new(1, "s", "c", None),
        with_prompt("p", plan(2, "s", "# A plan")),
        self::seen(3, "s", What::Accepted),
        self::seen(4, "s", What::AcceptedPlan(changed.clone())),
        end(5, "s", "other"),
    ];
    assert_eq!(fold(&seen)["c"].artifact.as_ref().unwrap().digest, changed.digest);
    seen.splice(2.., [self::seen(3, "s", What::Refused), with_prompt("p", end(6, "s", "clear"))]);
    assert_eq!(fold(&seen)["c"].mode, Mode::Active);
}

fn handoff_by(at: i64, by: &str, context: &str) -> Seen {
    let handoff = Handoff { digest: format!("h{at}"), ..Handoff::default() };
    work(at, by, context, Action::Handoff(Box::new(handoff)))
}

fn handoff(at: i64) -> Seen {
    handoff_by(at, "s", "c")
}

#[test]
fn line_9_a_handoff_that_a_session_goes_on_from_waits_for_no_other() {
    let resumed = |at, by: &str| work(at, by, "c", Action::Resumed { digest: "h2".to_owned() });
    let begun = [new(1, "s", "c", None), handoff(2)];
    // Whether or not the session that wrote it has ended by then.
    let ended = [&begun[..], &[end(3, "s", "other")]].concat();
    assert_eq!(fold(&ended)["c"].mode, Mode::HasHandoff);
    for before in [&begun[..], &ended] {
        let after = [before, &[resumed(5, "t"), end(6, "t", "other"), end(7, "s", "other")]].concat();
        let context = &fold(&after)["c"];
        assert_eq!(context.mode, Mode::Active, "{context:?}");
        assert!(context.artifact.as_ref().unwrap().is_consumed);
        assert_eq!(context.sessions.len(), 2);
    }
    // A later one waits.
    let later = [&ended[..], &[resumed(5, "t"), handoff_by(6, "t", "c"), end(7, "t", "other")]].concat();
    assert_eq!(fold(&later)["c"].mode, Mode::HasHandoff);
}

#[test]
fn a_handoff_of_a_compaction_waits_for_no_session() {
    let handoff = Handoff { digest: "h".to_owned(), origin: Origin::Compaction, ..Handoff::default() };
    let seen =
        [new(1, "s", "c", None), work(2, "s", "c", Action::Handoff(Box::new(handoff))), end(3, "s", "other")];
    assert_eq!(fold(&seen)["c"].mode, Mode::Active);
}

#[test]
fn a_handoff_of_a_stopped_compaction_waits_where_none_of_a_person_does() {
    let of = |at: i64, origin| {
        let handoff = Handoff { digest: format!("h{at}"), origin, ..Handoff::default() };
        work(at, "s", "c", Action::Handoff(Box::new(handoff)))
    };
    let stopped = |at| of(at, Origin::Stopped);
    let asked = |at| of(at, Origin::Asked);
    let resumed = |at| work(at, "t", "c", Action::Resumed { digest: "h2".to_owned() });
    let week = crate::contexts::STALE_DAYS as i64 * 86_400_000;
    for (what, seen, expected) in [
        ("alone", vec![stopped(2)], "h2"),
        ("the latest of two", vec![stopped(2), stopped(3)], "h3"),
        ("behind a person's", vec![asked(2), stopped(3), stopped(4)], "h2"),
        ("before a person's", vec![stopped(2), asked(3)], "h3"),
        ("after a person's was resumed", vec![asked(2), resumed(3), stopped(4)], "h4"),
        ("beside a person's of last week", vec![asked(2), stopped(week + 2)], "h2"),
        ("a week after a person's", vec![asked(2), stopped(week + 3)], "h604800003"),
        ("of a compaction that went on", vec![asked(2), of(3, Origin::Compaction)], "h2"),
    ] {
        let ended = [vec![new(1, "s", "c", None)], seen, vec![end(week + 9, "s", "other")]].concat();
        let context = &fold(&ended)["c"];
        assert_eq!(context.artifact.as_ref().unwrap().digest, expected, "{what}");
        assert_eq!(context.mode, Mode::HasHandoff, "{what}");
    }
}

#[test]
fn the_latest_of_plan_and_handoff_wins() {
    let plan = |at| [plan(at, "s", "# A plan"), seen(at + 1, "s", What::Accepted)];
    let of = |seen: Vec<Seen>| {
        fold(&[vec![new(1, "s", "c", None)], seen, vec![end(9, "s", "other")]].concat())["c"].mode
    };
    assert_eq!(of([plan(2).to_vec(), vec![handoff(5)]].concat()), Mode::HasHandoff);
    assert_eq!(of([vec![handoff(2)], plan(5).to_vec()].concat()), Mode::HasPlan);
}

#[test]
fn to_accept_a_plan_with_a_clear_context_goes_on_in_the_next_session() {
    let seen = [
        new(1, "s", "c", Some("plan")),
        with_prompt("q", plan(2, "s", "# A plan")),
        with_prompt("q", end(3, "s", "clear")),
        with_prompt("q", start(4, "t", "clear")),
    ];
    assert_eq!(modes(&seen), ["idle", "idle", "has_plan", "active"]);
    let context = &fold(&seen)["c"];
    assert_eq!(context.sessions.iter().map(|bound| &*bound.session.id).collect::<Vec<_>>(), ["s", "t"]);
}

#[test]
fn line_10_a_plan_that_was_refused_is_not_accepted_by_a_clear_that_the_user_types() {
    // Esc at a plan fires nothing, and `/clear` is no prompt.
    for prompt in [Some("q"), None] {
        let mut end = end(3, "s", "clear");
        end.prompt_id = prompt.map(str::to_owned);
        let shown = with_prompt("p", plan(2, "s", "# A plan"));
        let context = &fold(&[new(1, "s", "c", Some("plan")), shown, end])["c"];
        assert_eq!((context.mode, &context.artifact), (Mode::Idle, &None));
    }
    let unnamed = [new(1, "s", "c", Some("plan")), plan(2, "s", "# A plan"), end(3, "s", "clear")];
    assert_eq!(fold(&unnamed)["c"].mode, Mode::Idle);
}

#[test]
fn line_9_a_plan_whose_session_completed_every_task_of_it_waits_for_no_other() {
    let listed = |at, listed| seen(at, "s", What::Task(listed));
    let added = |at, number: &str| listed(at, Listed::Added(number.to_owned()));
    let moved = |at, number: &str, to| listed(at, Listed::Moved { number: number.to_owned(), to });
    let of = |tasks: &[Seen]| {
        let accepted = [new(1, "s", "c", None), plan(3, "s", "# A plan"), seen(4, "s", What::Accepted)];
        // What was listed before the plan is not of it.
        let early = [added(2, "0")];
        let ended = [end(20, "s", "other")];
        fold(&[&accepted[..], &early, tasks, &ended].concat())["c"].mode
    };
    assert_eq!(of(&[]), Mode::HasPlan);
    let both = [added(5, "1"), added(6, "2"), moved(7, "1", Standing::Completed)];
    assert_eq!(of(&both), Mode::HasPlan);
    assert_eq!(of(&[&both[..], &[moved(8, "2", Standing::Completed)]].concat()), Mode::Active);
    assert_eq!(of(&[&both[..], &[moved(8, "2", Standing::Gone)]].concat()), Mode::Active);
    assert_eq!(of(&[added(5, "1"), moved(6, "1", Standing::Gone)]), Mode::HasPlan, "none was done");
    // The same plan, told again by the call, forgets nothing.
    let again =
        [plan(9, "s", "# A plan"), seen(10, "s", What::Accepted), moved(11, "2", Standing::Completed)];
    assert_eq!(of(&[&both[..], &again].concat()), Mode::Active);
    let written = |at, tasks: &[Standing]| listed(at, Listed::Written(tasks.to_vec()));
    let half = written(5, &[Standing::Completed, Standing::Open]);
    assert_eq!(of(std::slice::from_ref(&half)), Mode::HasPlan);
    assert_eq!(of(&[half, written(6, &[Standing::Completed; 2])]), Mode::Active);
}

#[test]
fn what_a_session_does_belongs_to_the_context_that_it_works_on_at_that_moment() {
    let seen = [
        new(10, "s", "c", None),
        new(20, "s", "d", None),
        bind(30, "s", "c"),
        work(40, "x", "c", Action::Done),
        new(50, "s", "e", None),
    ];
    let contexts = fold(&seen);
    let has = |id: &str, at: i64| contexts[id].sessions[0].spans.iter().any(|span| span.has(at));
    let owners = |at: i64| ["c", "d", "e"].into_iter().filter(|id| has(id, at)).collect::<Vec<_>>();
    // Before its first context, and between the end of one and the next, too.
    for (at, owner) in [(5, "c"), (10, "c"), (19, "c"), (20, "d"), (29, "d"), (30, "c"), (45, "c"), (50, "e")]
    {
        assert_eq!(owners(at), [owner], "{at}");
    }
}

#[test]
fn an_offer_is_no_activity() {
    let git = Some(Git { branch: Some("main".to_owned()), ..Git::default() });
    let mut offered = work(9, "t", "c", Action::Offered);
    let What::Work(work) = &mut offered.what else { unreachable!() };
    work.git = git;
    let context = &fold(&[new(1, "s", "c", None), offered])["c"];
    assert_eq!((context.last_active, &context.git), (1, &None));
}

#[test]
fn clear_branch_and_resume_go_on_with_the_work_of_the_session_before() {
    let linked = |reason: &str, source: &str| {
        fold(&[
            new(1, "s", "c", None),
            with_prompt("q", end(3, "s", reason)),
            with_prompt("q", start(4, "t", source)),
        ])["c"]
            .sessions
            .len()
    };
    assert_eq!((linked("clear", "clear"), linked("resume", "resume")), (2, 2));
    // Another prompt, or none, links nothing.
    let apart = [new(1, "s", "c", None), with_prompt("q", end(3, "s", "clear")), start(4, "t", "clear")];
    assert_eq!(fold(&apart)["c"].sessions.len(), 1);
    // A session that has work of its own keeps it.
    let own = [
        new(1, "t", "own", None),
        new(2, "s", "c", None),
        with_prompt("q", end(3, "s", "resume")),
        with_prompt("q", start(4, "t", "resume")),
    ];
    assert_eq!(fold(&own)["c"].sessions.len(), 1);
}

#[test]
fn a_session_that_resume_goes_back_to_takes_up_no_work_of_the_session_before() {
    let back = [
        new(5, "s", "c", None),
        with_prompt("q", end(6, "s", "resume")),
        with_prompt("q", start(7, "t", "resume")),
    ];
    let of_t = |before: &[Seen]| {
        let contexts = fold(&[before, &back].concat());
        contexts["c"].sessions.iter().any(|binding| binding.session == session("t"))
    };
    assert!(of_t(&[]), "a branch has nothing from before");
    // Its own work is done, or it named none.
    assert!(!of_t(&[new(1, "t", "own", None), work(2, "x", "own", Action::Done), end(3, "t", "other")]));
    assert!(!of_t(&[prompt(1, "t", "default")]));
    assert!(!of_t(&[start(1, "t", "startup"), end(2, "t", "other")]));
}

#[test]
fn line_5_the_reason_of_the_end_is_kept_and_what_was_left_of_the_window_survives_it() {
    let seen = [
        new(1, "s", "c", None),
        work(2, "s", "c", Action::Window { remaining_pct: 17, warnings_fired: vec![30.into(), 20.into()] }),
        end(3, "s", "prompt_input_exit"),
    ];
    let last = fold(&seen)["c"].last_session.clone().unwrap();
    assert_eq!(last.save_reason.as_deref(), Some("prompt_input_exit"));
    assert_eq!((last.context_remaining_pct, last.context_warnings_fired.len()), (Some(17), 2));
}

#[test]
fn done_clears_what_waits_and_frees_its_sessions_and_reopen_begins_idle() {
    let mut seen = vec![
        new(1, "s", "c", None),
        plan(2, "s", "# A plan"),
        self::seen(3, "s", What::Accepted),
        end(4, "s", "other"),
        work(5, "x", "c", Action::Done),
    ];
    let context = &fold(&seen)["c"];
    assert!(context.is_done && context.artifact.is_none() && context.mode == Mode::Idle);
    assert!(!context.sessions[0].is_current);
    seen.push(work(6, "x", "c", Action::Reopen));
    let context = &fold(&seen)["c"];
    assert!(!context.is_done && context.mode == Mode::Idle);
}

#[test]
fn a_session_works_on_one_context_at_a_time() {
    let seen = [new(1, "s", "c", None), new(2, "t", "d", None), bind(3, "s", "d")];
    let contexts = fold(&seen);
    assert!(!contexts["c"].sessions[0].is_current);
    assert_eq!(contexts["d"].sessions.len(), 2);
}

fn any_seen() -> impl Strategy<Value = Seen> {
    let names = prop_oneof![Just("s"), Just("t"), Just("u")];
    let contexts = prop_oneof![Just("c"), Just("d")];
    (0..40_i64, names, contexts, 0..18_u8, prop_oneof![Just("plan"), Just("default")]).prop_map(
        |(at, by, context, kind, mode)| {
            let mut seen = match kind {
                0 => new(at, by, context, Some(mode)),
                1 => bind(at, by, context),
                2 => prompt(at, by, mode),
                3 => plan(at, by, if at % 2 == 0 { "# One plan" } else { "# Another plan" }),
                4 => self::seen(at, by, What::Accepted),
                5 => self::seen(at, by, What::Changed),
                6 => end(at, by, if mode == "plan" { "clear" } else { "other" }),
                7 => start(at, by, if mode == "plan" { "clear" } else { "resume" }),
                8 => work(at, by, context, Action::Done),
                9 => work(at, by, context, Action::Reopen),
                10 => work(at, by, context, Action::Note { text: format!("note {at}") }),
                11 => self::seen(at, by, What::AcceptedPlan(Marks::of("# A changed plan"))),
                12 => self::seen(at, by, What::Refused),
                14 => self::seen(at, by, What::Task(Listed::Added(format!("{}", at % 3)))),
                15 => {
                    let to = if mode == "plan" { Standing::Completed } else { Standing::Open };
                    self::seen(at, by, What::Task(Listed::Moved { number: format!("{}", at % 3), to }))
                }
                16 => work(at, by, context, Action::Offered),
                13 => work(at, by, context, Action::Resumed { digest: format!("h{}", at / 2) }),
                _ => handoff_by(at, by, context),
            };
            // Two observations of a session differ in their id.
            seen.id = format!("{kind}:{at}:{context}:{mode}");
            seen.prompt_id = (at % 3 == 0).then(|| format!("q{}", at % 7));
            seen
        },
    )
}

proptest! {
    #[test]
    fn neither_order_nor_repetition_matters_and_each_part_makes_contexts(
        seen in proptest::collection::vec(any_seen(), 0..60),
        order in any::<u64>(),
        most in 0..60_usize,
    ) {
        let whole = fold(&seen);
        let mut shuffled: Vec<Seen> = seen.iter().chain(&seen[..most.min(seen.len())]).cloned().collect();
        // A deterministic shuffle.
        let mut state = order | 1;
        for at in (1..shuffled.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            shuffled.swap(at, (state >> 33) as usize % (at + 1));
        }
        prop_assert_eq!(&fold(&shuffled), &whole);
        for context in fold(&shuffled[..most.min(shuffled.len())]).values() {
            prop_assert!(whole.contains_key(&context.id));
            prop_assert!(!context.is_done || !context.mode.is_staged());
            // What waits was not taken up, and is offered once.
            let waits = context.artifact.as_ref().is_some_and(|artifact| !artifact.is_consumed);
            prop_assert!(waits || !context.mode.is_staged(), "{:?}", context);
            prop_assert_eq!(context.staged_at.is_some(), context.mode.is_staged(), "{:?}", context);
            prop_assert!(context.mode.is_staged() || !context.is_offered);
        }
    }
}
